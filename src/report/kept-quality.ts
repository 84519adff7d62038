/** Which arms keep the answers of text, by length of the prompt, as runs measured it: what the map of the fastest arms may show. */
import { groupedNumber } from '../render/format-number.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { baselineArm } from './find-arms-and-comparisons.ts';
import { primaryMetric } from './metric-display.ts';
import { keptShare } from './tables/methods-cost-quality-tables.ts';

/** The primary metric of an arm in % of text's, in prompts of so many tokens on average. */
export interface KeptQuality {
  readonly run: string;
  readonly arm: string;
  readonly promptTokens: number;
  readonly percent: number;
  /** Questions that the metric judges. */
  readonly n: number;
}

/** An arm is fast for nothing if it keeps less of text's quality, in %. */
export const ENOUGH_KEPT = 95;
/** Quality holds at lengths up to this factor away. */
const NEAR = 2;

export function keptQuality(results: RunResults): KeptQuality[] {
  const promptTokens = baselineArm(results.arms)?.tokens?.prompt;
  if (promptTokens === undefined) return [];
  const { run, arms } = results;
  const byAnswers = Map.groupBy(arms, ({ arm }) => answersOf(arm));
  return [...byAnswers].flatMap(([arm, [measured]]) => {
    const percent = keptShare(results, measured!);
    if (percent === undefined) return [];
    const { n } = primaryMetric(run).of(measured!.metrics)!;
    return [{ run: run.name, arm, promptTokens, percent, n }];
  });
}

/** The text arm with the same answers: exact KV has those of text in the same order, bit for bit. */
export const answersOf = (arm: string): string => arm.replace(/^(?:rag-cached(?: \+ disk)?|dki)(?=$|@order)/, 'rag');

/** Whether an arm was measured near a length, and kept enough in every run. */
export function keepsQuality(kept: readonly KeptQuality[], arm: string, tokens: number): boolean {
  const isNear = ({ promptTokens }: KeptQuality): boolean =>
    Math.max(tokens / promptTokens, promptTokens / tokens) <= NEAR;
  const near = kept.filter((one) => one.arm === answersOf(arm) && isNear(one));
  return near.length > 0 && near.every(({ percent }) => percent >= ENOUGH_KEPT);
}

/** `run NAME, 190 tokens, n = 612: dki-blocks 75.8`, for some arms. */
export function keptQualityText(kept: readonly KeptQuality[], arms: readonly string[]): string {
  const shown = new Set(arms.map(answersOf));
  const byRun = Map.groupBy(
    kept.filter(({ arm }) => shown.has(arm) && arm !== 'rag'),
    ({ run, promptTokens, n }) =>
      `run ${run}, ${groupedNumber(Math.round(promptTokens))} tokens, n = ${groupedNumber(n)}`,
  );
  return [...byRun]
    .map(([where, of]) => `${where}: ${of.map(({ arm, percent }) => `${arm} ${percent.toFixed(1)}`).join(', ')}`)
    .join('; ');
}
