/** The fastest arms by length and reuse, and which arms keep the answers of text, as runs measured it. */
import { groupedNumber } from '../render/format-number.ts';
import type { RunResults } from '../store/records/run-results.ts';
import type { ReuseMeasurement } from '../store/records/suite-measurements.ts';
import { baselineArm } from './find-arms-and-comparisons.ts';
import { primaryMetric } from './metric-display.ts';
import { keptShare } from './tables/methods-cost-quality-tables.ts';

type MapCell = ReuseMeasurement['map'][number];

/** How much of the KV fits where, in words. */
export const mapRooms: Readonly<Record<MapCell['room'], string>> = {
  memory: 'All blocks fit into memory',
  disk: 'A tenth fits, a disk holds the rest',
};

/** Simulated traffic of one length and degree of reuse: the cells of all arms and capacities. */
export interface MapTraffic extends Pick<MapCell, 'memoryTokens' | 'memories' | 'repeated'> {
  readonly cells: readonly MapCell[];
}

export function mapTraffic(map: ReuseMeasurement['map']): MapTraffic[] {
  const groups = Map.groupBy(map, ({ memoryTokens, memories }) => `${memoryTokens} ${memories}`);
  return [...groups.values()].map((cells) => {
    const { memoryTokens, memories, repeated } = cells[0]!;
    return { memoryTokens, memories, repeated, cells };
  });
}

/** An arm is faster than those before it if it saves this share of text's time more; less lies within the error of the costs. */
const LEAST_GAIN = 0.05;

/** The fastest exact arm, and the fastest of all. @param kept if given, others count only where they keep the quality of text */
export function fastestArms(
  cells: readonly MapCell[],
  room: string,
  kept?: readonly KeptQuality[],
): Readonly<Record<'exact' | 'any', MapCell>> {
  const here = cells.filter((cell) => cell.room === room);
  const textMs = here.find(({ arm }) => arm === 'rag')!.ms;
  const fastest = (among: readonly MapCell[]): MapCell =>
    among.reduce((best, cell) => (cell.ms < best.ms - LEAST_GAIN * textMs ? cell : best));
  const isExact = ({ arm }: MapCell): boolean => answersOf(arm) === 'rag';
  const exact = here.filter(isExact);
  const others = here.filter((cell) => {
    return !isExact(cell) && (kept === undefined || keepsQuality(kept, cell.arm, cell.memoryTokens));
  });
  return { exact: fastest(exact), any: fastest([...exact, ...others]) };
}

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
const answersOf = (arm: string): string => arm.replace(/^(?:rag-cached(?: \+ disk)?|dki)(?=$|@order)/, 'rag');

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
