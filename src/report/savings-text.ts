import type { ArmResults, BreakEven, Comparison, CostName, RunResults } from '../store/records/results.ts';
import { comparisonOf } from './comparison-of.ts';
import { ratioText } from './interval-text.ts';
import { formatNumber } from '../render/table.ts';

/** `turn 3 [2, 5]`, or `never [8, never]` */
export function breakEvenText({ turn, low, high }: Pick<BreakEven, 'turn' | 'low' | 'high'>): string {
  const orNever = (value: number | null): string => (value === null ? 'never' : formatNumber(value, 0));
  return `${turn === null ? 'never' : `turn ${turn}`} [${orNever(low)}, ${orNever(high)}]`;
}

/** A verdict behind a number, in brackets; nothing where none was planned. */
function inBrackets({ verdict }: Comparison): string {
  return verdict === 'not judged' ? '' : ` (${verdict})`;
}

/** `dki evaluated 25.2 tokens a turn, rag 128.1 (fewer)` */
function tokensText(compared: Comparison): string | undefined {
  const { a, b, means } = compared;
  if (means === undefined) return undefined;
  return `${a} evaluated ${formatNumber(means.a, 1)} tokens a turn, ${b} ${formatNumber(means.b, 1)}${inBrackets(compared)}`;
}

/** `its first token took 0.37 [0.35, 0.40] of the time, 11.2 ms against 30.1 ms (faster)`: geometric means, as the ratio is. */
function timeText(compared: Comparison): string | undefined {
  const { means } = compared;
  if (means === undefined) return undefined;
  const times = `${formatNumber(means.a, 1)} ms against ${formatNumber(means.b, 1)} ms`;
  return `its first token took ${ratioText(compared)} of the time, ${times}${inBrackets(compared)}`;
}

/**
 * Savings of an arm that injects against one of text, in a sentence or two: over cache hits, and over all turns with the hit rate;
 * then the break-even. None without a comparison.
 */
export function savingsSentences({ arm, hitRate }: ArmResults, opponent: string, results: RunResults): string[] {
  const text = (metric: CostName): string | undefined => {
    const compared = comparisonOf(results, arm, opponent, metric);
    if (compared === undefined) return undefined;
    return metric.startsWith('ttft') ? timeText(compared) : tokensText(compared);
  };
  const both = (...parts: readonly (string | undefined)[]): string | undefined => {
    const some = parts.filter((part) => part !== undefined);
    return some.length === 0 ? undefined : some.join('; ');
  };
  const hits = both(text('evaluatedTokens'), text('ttftLogRatio'));
  const all = both(text('evaluatedTokensAll'), text('ttftLogRatioAll'));
  const rate = hitRate === null ? '' : ` (hit rate ${formatNumber(hitRate * 100, 0)} %)`;
  const crossing = results.breakEven.find((one) => one.arm === arm && one.against === opponent);
  return [
    ...(hits === undefined ? [] : [`Against ${opponent}, on cache hits: ${hits}.`]),
    ...(all === undefined ? [] : [`Over all turns${rate}: ${all}.`]),
    ...(crossing === undefined ? [] : [`Break-even against ${opponent}: ${breakEvenText(crossing)}.`]),
  ];
}
