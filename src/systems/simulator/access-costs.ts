import { linearRegression, mean, median } from 'simple-statistics';
import { atFullLayers, type LengthMeasurement, type LengthStep } from '../../store/records/suite-measurements.ts';
import type { TurnAccess } from './simulated-turn.ts';

/** A fixed time and a time per unit, in ms. */
export interface LinearCost {
  readonly fixed: number;
  readonly each: number;
}

/** Times of the work of a turn on one machine, in ms. */
export interface AccessCosts {
  /** Per engine call, per evaluated token, and per pair of an evaluated token and a cell of KV that the engine reads for it. */
  readonly evaluate: Readonly<Record<'call' | 'token' | 'pair', number>>;
  /** Bringing KV from memory into the session: joining and importing, by bytes. */
  readonly import: LinearCost;
  /** Finding, reading and verifying KV on disk, by bytes. */
  readonly read: LinearCost;
  /** Copying a block that was just computed out of the session, by bytes. */
  readonly export: LinearCost;
}

/** Time to the first token, in ms, without retrieval and tokenising. */
export function firstTokenMs({ evaluations, disk, made, importedBytes }: TurnAccess, costs: AccessCosts): number {
  const { call, token, pair } = costs.evaluate;
  const evaluate = evaluations.reduce(
    (sum, { tokens, behind }) => sum + call + token * tokens + pair * attendedPairs(tokens, behind),
    0,
  );
  const moved = linear(costs.import, importedBytes) + linear(costs.read, disk.bytes);
  return evaluate + moved + linear(costs.export, made.bytes, made.parts);
}

/** llama.cpp evaluates up to so many tokens at once, and reads KV in steps of so many cells. */
const BATCH_TOKENS = 512;
const CELL_STEP = 256;

/** For each token of a batch, the engine reads all cells up to the batch's end, in whole steps: its mask saves no time. */
function attendedPairs(tokens: number, behind: number): number {
  let pairs = 0;
  for (let start = 0; start < tokens; start += BATCH_TOKENS) {
    const end = Math.min(start + BATCH_TOKENS, tokens);
    pairs += (end - start) * wholeSteps(behind + end);
  }
  return pairs;
}

function wholeSteps(cells: number): number {
  return CELL_STEP * Math.ceil(cells / CELL_STEP);
}

function linear({ fixed, each }: LinearCost, bytes: number, times = 1): number {
  return bytes === 0 ? 0 : fixed * times + each * bytes;
}

/** Tokens of suite `length` before its memories, and in its query. */
export interface LengthFrame {
  readonly headerTokens: number;
  readonly queryTokens: number;
}

/** Costs from the medians of suite `length`, at two lengths or more; times of a few layers are scaled to all layers. */
export function costsOfLengths(
  measuredLayers: readonly LengthMeasurement[],
  { headerTokens, queryTokens }: LengthFrame,
): AccessCosts {
  const measured = atFullLayers(measuredLayers);
  const rows = (way: LengthMeasurement['way'], tier: LengthMeasurement['tier']): LengthMeasurement[] =>
    measured.filter((row) => row.way === way && row.tier === tier && (row.type ?? 'f16') === 'f16');
  // Resident: only the query, after all other tokens. Text: the memories, then the query as for resident.
  const cells = ({ tokens }: LengthMeasurement): number => wholeSteps(headerTokens + tokens + queryTokens);
  const resident = fit(rows('resident', null).map((row) => [cells(row), stepsMs(row, ['evaluate'])]));
  const pair = resident.each / queryTokens;
  const texts = rows('text', null).map((row): [number, number] => {
    const tokens = headerTokens + row.tokens;
    const queryMs = resident.fixed + resident.each * cells(row);
    return [tokens, stepsMs(row, ['evaluate']) - queryMs - pair * attendedPairs(tokens, 0)];
  });
  const { each: token } = fit(texts);
  const call = Math.max(0, resident.fixed - token * queryTokens);
  const byBytes = (tier: LengthMeasurement['tier'], steps: readonly LengthStep[]) =>
    fit(rows('blocks', tier).map((row) => [row.bytes, stepsMs(row, steps)]));
  const exports = rows('blocks', 'memory').flatMap((row) => row.exports ?? []);
  const exportsBySize = Map.groupBy(exports, ({ bytes }) => bytes);
  return {
    evaluate: { call, token, pair },
    import: byBytes('memory', ['join', 'import']),
    read: byBytes('disk', ['find', 'read', 'verify', 'convert']),
    export: fit([...exportsBySize].map(([bytes, of]) => [bytes, median(of.map(({ ms }) => ms))])),
  };
}

function stepsMs({ repeats }: LengthMeasurement, steps: readonly LengthStep[]): number {
  return median(repeats.map(({ steps: ms }) => steps.reduce((sum, step) => sum + ms[step], 0)));
}

/**
 * The line through points, or through the origin if its fixed part would be negative; no cost is below 0. Relative errors count,
 * so that short prompts are met as well as long ones. Without points all is free.
 */
function fit(points: readonly [number, number][]): LinearCost {
  if (points.length === 0) return { fixed: 0, each: 0 };
  const perUnit = points.map(([x, y]) => [1 / x, y / x]);
  const { m: fixed, b: each } = linearRegression(perUnit);
  if (fixed >= 0 && each >= 0) return { fixed, each };
  return { fixed: 0, each: Math.max(0, mean(perUnit.map(([, y]) => y!))) };
}
