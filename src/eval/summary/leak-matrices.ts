import type { LeakMatrix } from '../results.ts';
import type { IsolationProbe } from '../run/isolation-probe.ts';
import { clopperPearson } from '../statistics/clopper-pearson.ts';

/** Whose secret came out for whom, by arm; askers and owners are the same people in the same order. */
export function leakMatrices({ arms }: IsolationProbe): LeakMatrix[] {
  return arms.map(({ arm, said, strangers }) => ({
    arm,
    users: said.map((_row, index) => String(index + 1)),
    answers: strangers.answers / said.length,
    said,
    upperBound: clopperPearson(strangers.leaks, strangers.answers).high,
  }));
}
