import { BenchError, didYouMean } from '../../../base/bench-error.ts';
import type { RunToCompare } from './run-to-compare.ts';

export interface ArmPair {
  readonly a: string;
  readonly b: string;
}

/** Pairs arms of two runs. @param names `rag`, or `rag/dki`. Default: all common arms @throws BenchError `not-found` */
export function armPairs(a: RunToCompare, b: RunToCompare, names: readonly string[] | undefined): ArmPair[] {
  if (names === undefined) {
    const common = a.arms.filter((arm) => b.arms.includes(arm));
    if (common.length > 0) return common.map((arm) => ({ a: arm, b: arm }));
    const message = `runs "${a.run.name}" and "${b.run.name}" have no arm in common`;
    const hint = `name one of each with --arms ${a.arms[0] ?? 'A'}/${b.arms[0] ?? 'B'}: ${a.arms.join(', ')} against ${b.arms.join(', ')}`;
    throw new BenchError('not-found', message, hint);
  }
  const requireArm = ({ run, arms }: RunToCompare, arm: string): string => {
    if (arms.includes(arm)) return arm;
    const message = `run "${run.name}" has no arm "${arm}"${didYouMean(arm, arms)}`;
    throw new BenchError('not-found', message, `it has ${arms.join(', ')}`);
  };
  return names.map((name) => {
    const [first = '', second = first] = name.split('/', 2);
    return { a: requireArm(a, first), b: requireArm(b, second) };
  });
}
