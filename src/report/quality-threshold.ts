import { BenchError, didYouMean } from '../base/bench-error.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { findMetric } from './metric-display.ts';
import { formatNumber } from '../render/format-number.ts';

/**
 * A threshold for a metric of an arm, as `--fail-below` takes it: a value, or the metric of another arm plus or minus an amount, such
 * as `contains:dki-blocks>=rag-2`. Amounts are percentage points for metrics in %, otherwise in the metric's unit.
 */
export type QualityThreshold = ReturnType<typeof parseQualityThreshold>;

const NUMBER = String.raw`\d+(?:\.\d+)?|\.\d+`;
const THRESHOLD = /^(\w+):(.+?)([<>]=)(.+)$/;

/** Parses a threshold. @throws BenchError `bad-option` if it is malformed or names an unknown metric or arm */
export function parseQualityThreshold(text: string, known: Readonly<Record<'arms' | 'metrics', readonly string[]>>) {
  const [, metric, arm, sign, right] = THRESHOLD.exec(text.replaceAll(/\s/g, '')) ?? [];
  if (metric === undefined || arm === undefined || right === undefined) {
    throw new BenchError(
      'bad-option',
      `--fail-below: "${text}" is not a threshold`,
      'write METRIC:ARM>=ARM, METRIC:ARM>=ARM-POINTS or METRIC:ARM>=VALUE (<= where less is better), such as contains:dki-blocks>=rag-2',
    );
  }
  if (!known.metrics.includes(metric))
    throw unknown('metric', metric, known.metrics, 'dki-bench list metrics lists them');
  requireArm(arm, known.arms);
  const threshold = { text, metric, arm, sign: sign === '>=' ? '>=' : '<=' } as const;
  return { ...threshold, ...thresholdLimit(right, known.arms) };
}

function thresholdLimit(right: string, arms: readonly string[]) {
  // Log-probabilities are negative.
  if (new RegExp(`^-?(?:${NUMBER})$`).test(right)) return { other: null, amount: Number(right) };
  // The name of an arm may end in a number: dki-link:4.
  if (arms.includes(right)) return { other: right, amount: 0 };
  const [, other = right, more = '+', amount = '0'] = new RegExp(`^(.+)([+-])(${NUMBER})$`).exec(right) ?? [];
  requireArm(other, arms);
  return { other, amount: Number(`${more}${amount}`) };
}

function requireArm(name: string, arms: readonly string[]): void {
  if (!arms.includes(name)) throw unknown('arm of this run', name, arms, 'add it to --arms');
}

function unknown(kind: string, name: string, known: readonly string[], what: string): BenchError {
  return new BenchError('bad-option', `--fail-below: no ${kind} "${name}"${didYouMean(name, known)}`, what);
}

/** One line that says why a run misses a threshold; null if it meets it, or did not run its arms. */
export function missedThreshold({ run, arms }: RunResults, threshold: QualityThreshold): string | null {
  const { text, arm, sign, other, amount } = threshold;
  const metric = findMetric(run, threshold.metric)!;
  const compared = [arm, ...(other === null ? [] : [other])];
  if (!compared.every((name) => arms.some((one) => one.arm === name))) return null;
  const values = compared.map((name) => {
    const mean = metric.of(arms.find((one) => one.arm === name)!.metrics)?.mean;
    return (mean ?? NaN) * metric.scale;
  });
  const missing = compared.find((_, index) => Number.isNaN(values[index]));
  if (missing !== undefined) return `${run.name}, threshold ${text}: ${metric.label} of ${missing} was not measured`;
  const [value, base = 0] = values as [number, number?];
  const surplus = value - base - amount;
  // 100 × 0.58 is less than 58.
  if ((sign === '>=' ? surplus : -surplus) >= -1e-9) return null;
  const shown = compared.map((name, index) => `${name} ${formatNumber(values[index]!, metric.digits)}`).join(', ');
  return `${run.name} misses the threshold ${text}: ${metric.label}, ${metric.unit}: ${shown}`;
}
