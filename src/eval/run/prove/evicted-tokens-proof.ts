import { createHash } from 'node:crypto';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { norm, innerProduct } from '../../../base/inner-product.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { PrefillName } from '../../../store/records/arm-traits.ts';
import type { EvictionName, EvictionRule } from '../../../store/records/prefill-record.ts';
import { type CellMaker, evaluatedBehind, evaluatedBehindStored, type ExpectedParts } from './expected-cells.ts';
import { evictionUnits, type InjectedParts, tokensLeft } from '../observe/expected-injection.ts';
import { questionAttention } from './recomputed-tokens-proof.ts';
import { type CellBound, movedCell, type Float64Cell, restoredCells, scaledCell, wrongCells } from './float64-cells.ts';

/** Scores may differ by this much if their terms are added in another order. */
const ORDER_ERROR = 1e-9;

export interface EvictedParts extends Pick<ExpectedParts, 'header' | 'lines' | 'keptAs'> {
  /** `prefix`: one eviction over all memories. Else one per memory. */
  readonly prefill: PrefillName;
  readonly evict: EvictionName;
  readonly alpha: number;
  /** Indexes of the memories whose blocks must be whole. */
  readonly repaired?: ReadonlySet<number> | undefined;
  /** For each eviction, what followed the memories in the prompt of its turn, if the rule sees the question. */
  readonly askedFor: readonly (PromptRest | undefined)[];
}

export type PromptRest = Pick<InjectedParts, 'suffix' | 'question'>;

/** What one eviction chose from: cells as evaluated and as placed, the cells found, and the index of the first. */
interface Unit {
  readonly ids: readonly TokenId[];
  readonly built: readonly Float64Cell[];
  readonly placed: readonly Float64Cell[];
  readonly cells: readonly Float64Cell[];
  readonly first: number;
  /** Scores that the question gave all heads; undefined if each head has scores of its own. */
  readonly asked: ScoreRange | undefined;
}

type Part = 'keys' | 'values';

interface Tolerance extends CellBound {
  /** Relative error of the numbers that scores are computed from; 0 if evaluating again gives the same bits. */
  readonly rounding: number;
}

/** Keys and values of one head in one layer: vectors by token, and the rounding error of their numbers. */
type HeadVectors = Readonly<Record<Part, { readonly vectors: readonly Float64Array[]; readonly error: number }>>;

/** The least and the greatest score of each token that rounding allows. */
type ScoreRange = readonly { readonly low: number; readonly high: number }[];

/**
 * Describes what is wrong with cells after eviction; null if nothing is. In each KV head of each layer, they must be cells of
 * memory tokens in order, and no dropped token may score more than a kept one. @param found the cells of header and memories, as many as are due
 */
export async function wrongEviction(
  maker: CellMaker,
  parts: EvictedParts,
  found: readonly Float64Cell[],
  tolerance: Tolerance,
): Promise<string | null> {
  const { header, prefill, keptAs = 'f16', evict, alpha, repaired, askedFor } = parts;
  const { rotary, layout } = maker.cells;
  const isWhole = (unit: number): boolean => repaired?.has(unit) === true;
  const evaluated = await evaluatedBehind(maker, [], header);
  const front = restoredCells(evaluated, keptAs, layout);
  const wrong = wrongCells(found.slice(0, header.length), front, tolerance);
  if (wrong !== null) return wrong;
  let [first, distance] = [header.length, 0];
  for (const [unit, ids] of evictionUnits(parts, parts).entries()) {
    const built =
      prefill === 'prefix'
        ? (await evaluatedBehind(maker, [], [...header, ...ids])).slice(header.length)
        : await evaluatedBehindStored(maker, { tokens: header, cells: front, keptAs }, ids);
    const placed = restoredCells(built, keptAs, layout).map((cell) =>
      scaledCell(movedCell(cell, cell.position + distance, rotary, layout), alpha),
    );
    const cells = found.slice(first, first + (isWhole(unit) ? ids.length : tokensLeft(evict, ids.length)));
    // A prefix is evaluated and scored before it is stored, blocks behind the header as it is stored.
    const seen = [...(prefill === 'prefix' ? evaluated : front), ...built];
    const rest = isWhole(unit) ? undefined : askedFor[unit];
    const asked = await attentionScores(maker, seen, rest && { ...rest, headerTokens: header.length }, tolerance);
    const broken = wrongUnit({ ids, built, placed, cells, first, asked }, evict, layout, tolerance);
    if (broken !== null) return broken;
    first += cells.length;
    distance += ids.length;
  }
  return null;
}

function wrongUnit(
  { ids, built, placed, cells, first, asked }: Unit,
  evict: EvictionName,
  { layers, heads, headDimension }: CellMaker['cells']['layout'],
  tolerance: Tolerance,
): string | null {
  const left = cells.length;
  const draw = randomScores(ids);
  /** For each cell the last token that any head holds there. The cell must have that token's position. */
  const latest = new Array<number>(left).fill(-1);
  for (let layer = 0; layer < layers; layer++) {
    const error = (part: Part) => tolerance.rounding * Math.max(...built.map((cell) => largest(cell[part][layer]!)));
    const errors = { keys: error('keys'), values: error('values') };
    const bounds = { keys: layer === 0 ? tolerance.firstKeys : tolerance.deeper, values: tolerance.deeper };
    for (let head = 0; head < heads; head++) {
      const own = (numbers: Float64Array) => numbers.subarray(head * headDimension, (head + 1) * headDimension);
      const vectors = (part: Part) => ({ vectors: built.map((cell) => own(cell[part][layer]!)), error: errors[part] });
      const headVectors = { keys: vectors('keys'), values: vectors('values') };
      const isAnyKept = left === ids.length;
      const scores = asked ?? (isAnyKept ? ids.map(() => exactly(0)) : evictionScores(evict, headVectors, left, draw));
      const isSame = (part: Part, cell: number, token: number): boolean => {
        const expected = placed[token]![part][layer]!;
        const other = own(expected);
        const limit = bounds[part] * largest(expected);
        return own(cells[cell]![part][layer]!).every((number, at) => Math.abs(number - other[at]!) <= limit);
      };
      const isIn = (cell: number, token: number) => isSame('keys', cell, token) && isSame('values', cell, token);
      const kept = keptTokens(scores, left, isIn);
      const place = `layer ${layer}, head ${head}`;
      if (kept.length < left) {
        return `cell ${first + kept.length} holds in ${place} keys and values of no token in turn`;
      }
      const least = Math.min(...kept.map((token) => scores[token]!.high));
      const missed = scores.findIndex(({ low }, token) => low > least && !kept.includes(token));
      if (missed !== -1) return `${place} dropped token ${missed} of its memories, which scores more than one it kept`;
      kept.forEach((token, cell) => (latest[cell] = Math.max(latest[cell]!, token)));
    }
  }
  latest[left - 1] = ids.length - 1;
  const moved = cells.findIndex(({ position }, cell) => position !== placed[latest[cell]!]!.position);
  if (moved === -1) return null;
  return `cell ${first + moved} at position ${cells[moved]!.position} in place of ${placed[latest[moved]!]!.position}`;
}

function largest(numbers: Float64Array): number {
  return numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
}

/** The tokens that the cells hold, in order; fewer than cells if a cell matches no token. */
function keptTokens(scores: ScoreRange, left: number, isIn: (cell: number, token: number) => boolean) {
  const middle = scores.map(({ low, high }) => (low + high) / 2);
  const best = [...scores.keys()]
    .sort((a, b) => middle[b]! - middle[a]! || b - a)
    .slice(0, left)
    .sort((a, b) => a - b);
  if (best.every((token, cell) => isIn(cell, token))) return best;
  const kept: number[] = [];
  for (let token = 0; token < scores.length && kept.length < left; token++) {
    if (isIn(kept.length, token)) kept.push(token);
  }
  return kept;
}

/** Draws the scores of rule `random`, layer by layer, head by head. */
function randomScores(ids: readonly TokenId[]): () => number {
  const seed = createHash('sha256').update(Int32Array.from(ids)).digest().readInt32LE(0);
  const random = new SeededRandom(seed);
  return () => random.float();
}

/** Scores a head's tokens by the rule's paper and kvpress, in 64-bit floats. Shares no code with `kv`. */
function evictionScores(evict: EvictionName, head: HeadVectors, left: number, draw: () => number): ScoreRange {
  const keys = head.keys.vectors;
  const error = head.keys.error * Math.sqrt(keys[0]!.length);
  switch (evict.split(':')[0] as EvictionRule) {
    case 'random':
      return keys.map(() => exactly(draw()));
    case 'streaming':
      return keys.map((_, token) => exactly(token < keys.length - left ? 0 : 1));
    case 'knorm':
      return keys.map((key) => within(-norm(key), error));
    case 'keydiff': {
      const directions = keys.map((key) => key.map((number) => number / norm(key)));
      const anchor = keys[0]!.map((_, at) => directions.reduce((sum, one) => sum + one[at]!, 0) / directions.length);
      const shortest = Math.min(...keys.map(norm));
      return directions.map((one) =>
        within(-innerProduct(one, anchor) / norm(anchor), (4 * error) / shortest / norm(anchor)),
      );
    }
    case 'lagkv':
      return lagScores(head);
    case 'snapkv':
      throw new RangeError('a rule that sees the question was given none');
  }
}

/** Scores of the question's attention, as a mean over five neighbours: those beyond the ends count as 0. Undefined without a question. */
async function attentionScores(
  maker: CellMaker,
  cells: readonly Float64Cell[],
  rest: Parameters<typeof questionAttention>[2] | undefined,
  { deeper }: Tolerance,
): Promise<ScoreRange | undefined> {
  if (rest === undefined) return undefined;
  const { scores, tolerance } = await questionAttention(maker, cells, rest, deeper);
  const shares = scores.slice(rest.headerTokens).map(Math.exp);
  return shares.map((_, token) => {
    const near = [-2, -1, 0, 1, 2].map((step) => shares[token + step] ?? 0);
    const mean = near.reduce((sum, share) => sum + share) / near.length;
    // The tolerance is of the logarithm, and of the difference between two scores.
    return { low: mean * Math.exp(-tolerance / 2), high: mean * Math.exp(tolerance / 2) };
  });
}

function lagScores({ keys, values }: HeadVectors): ScoreRange {
  const count = keys.vectors.length;
  const lag = [128, 64, 32, 16, 8].find((tokens) => count >= 8 * tokens) ?? 4;
  const whole = Math.floor(count / lag);
  if (whole < 2) return keys.vectors.map((_, token) => exactly(token));
  return keys.vectors.map((_, token) => {
    const part = Math.floor(token / lag);
    if (part >= whole - 1) return exactly(1);
    const begin = part * lag;
    const shares = ({ vectors, error }: HeadVectors[Part]): ScoreRange =>
      variationShares(vectors.slice(begin, begin + lag), vectors.slice(begin + lag, begin + 2 * lag), error);
    const byValue = shares(values);
    const scores = shares(keys).map(({ low, high }, at) => {
      return { low: low + byValue[at]!.low, high: high + byValue[at]!.high };
    });
    const own = scores[token - begin]!;
    const others = scores.filter((score) => score !== own);
    return {
      low: others.filter(({ high }) => high < own.low - ORDER_ERROR).length / lag,
      high: others.filter(({ low }) => low < own.high + ORDER_ERROR).length / lag,
    };
  });
}

/** Softmax over tokens of each one's standard deviation over dimensions, scaled by the ranges of the next part. */
function variationShares(vectors: readonly Float64Array[], behind: readonly Float64Array[], error: number): ScoreRange {
  const ranges = Array.from(vectors[0]!, (_, at) => {
    const numbers = behind.map((vector) => vector[at]!);
    return { least: Math.min(...numbers), range: Math.max(...numbers) - Math.min(...numbers) };
  });
  const powers = vectors.map((vector) => {
    const scaled = ranges.map(({ least, range }, at) => (range === 0 ? 0 : (vector[at]! - least) / range));
    const mean = scaled.reduce((sum, number) => sum + number) / scaled.length;
    const squares = scaled.reduce((sum, number) => sum + (number - mean) ** 2, 0);
    return Math.exp(Math.sqrt(squares / (scaled.length - 1)));
  });
  const narrowest = Math.min(...ranges.map(({ range }) => range).filter((range) => range > 0));
  const factor = Math.exp((8 * error) / narrowest);
  const sum = powers.reduce((total, power) => total + power);
  return powers.map((power) => ({ low: power / sum / factor, high: (power / sum) * factor }));
}

function exactly(score: number): ScoreRange[number] {
  return { low: score, high: score };
}

function within(score: number, error: number): ScoreRange[number] {
  return { low: score - error - ORDER_ERROR, high: score + error + ORDER_ERROR };
}
