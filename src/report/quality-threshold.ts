import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { metricNamed } from './metric-display.ts';
import { formatNumber } from '../render/format-number.ts';

/**
 * A bar for a metric of an arm: a value, or the metric of another arm plus or minus an amount; `contains:dki-blocks>=rag-2`.
 * The amount is in points of a metric in %, else in its unit.
 */
export type QualityBar = ReturnType<typeof qualityBar>;

const NUMBER = String.raw`\d+(?:\.\d+)?|\.\d+`;
const BAR = /^(\w+):(.+?)([<>]=)(.+)$/;

/** Reads a bar. @throws BenchError `bad-option` for another form, and for names that the run does not have */
export function qualityBar(text: string, known: Readonly<Record<'arms' | 'metrics', readonly string[]>>) {
  const [, metric, arm, sign, right] = BAR.exec(text.replaceAll(/\s/g, '')) ?? [];
  if (metric === undefined || arm === undefined || right === undefined) {
    throw new BenchError(
      'bad-option',
      `--fail-below: "${text}" is no bar`,
      'write METRIC:ARM>=ARM, METRIC:ARM>=ARM-POINTS or METRIC:ARM>=VALUE (<= where less is better), such as contains:dki-blocks>=rag-2',
    );
  }
  if (!known.metrics.includes(metric))
    throw unknown('metric', metric, known.metrics, 'dki-bench list metrics lists them');
  requireArm(arm, known.arms);
  const bar = { text, metric, arm, sign: sign === '>=' ? '>=' : '<=' } as const;
  return { ...bar, ...barLimit(right, known.arms) };
}

function barLimit(right: string, arms: readonly string[]) {
  if (new RegExp(`^(?:${NUMBER})$`).test(right)) return { other: null, amount: Number(right) };
  // A name may end like a number: dki-link:4.
  if (arms.includes(right)) return { other: right, amount: 0 };
  const [, other = right, more = '+', amount = '0'] = new RegExp(`^(.+)([+-])(${NUMBER})$`).exec(right) ?? [];
  requireArm(other, arms);
  return { other, amount: Number(`${more}${amount}`) };
}

function requireArm(name: string, arms: readonly string[]): void {
  if (!arms.includes(name)) throw unknown('arm of this run', name, arms, 'name it in --arms too');
}

function unknown(kind: string, name: string, known: readonly string[], what: string): BenchError {
  return new BenchError('bad-option', `--fail-below: no ${kind} "${name}"${didYouMean(name, known)}`, what);
}

/** Why a run misses a bar, in one line; null if it reaches it, or does not have its arms. */
export function missedBar({ run, arms }: RunResults, bar: QualityBar): string | null {
  const { text, arm, sign, other, amount } = bar;
  const metric = metricNamed(run, bar.metric)!;
  const compared = [arm, ...(other === null ? [] : [other])];
  if (!compared.every((name) => arms.some((one) => one.arm === name))) return null;
  const values = compared.map((name) => {
    const mean = metric.of(arms.find((one) => one.arm === name)!.metrics)?.mean;
    return (mean ?? NaN) * metric.scale;
  });
  const missing = compared.find((_, index) => Number.isNaN(values[index]));
  if (missing !== undefined) return `${run.name}, bar ${text}: ${metric.label} of ${missing} was not measured`;
  const [value, base = 0] = values as [number, number?];
  const wanted = base + amount;
  if (sign === '>=' ? value >= wanted : value <= wanted) return null;
  const shown = compared.map((name, index) => `${name} ${formatNumber(values[index]!, metric.digits)}`).join(', ');
  return `${run.name} misses the bar ${text}: ${metric.label}, ${metric.unit}: ${shown}`;
}
