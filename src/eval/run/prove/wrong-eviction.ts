import type { CallOptions } from '../../../engine/call-options.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { EvictionName } from '../../../store/records/prefill-record.ts';
import { wrongCells } from './compare-cells.ts';
import { type CellMaker, evaluatedBehind, evaluatedBehindKept, type ExpectedParts } from './expected-cells.ts';
import { movedCell, type PlainCell, scaledCell } from './plain-cells.ts';
import { restoredCells } from './plain-quantised.ts';
import { drawsOf, leftBy, plainScores, type ScoreRange } from './plain-eviction.ts';

/** An arm that evicts, and what it injected. */
export interface Evicted extends Pick<ExpectedParts, 'header' | 'lines' | 'keptAs'> {
  /** One eviction of all memories, or one of each. */
  readonly prefill: 'prefix' | 'blocks';
  readonly evict: EvictionName;
  readonly alpha: number;
}

/** Differences of keys of layer 0, and of all others, that rounding and the engine's own noise make. */
interface Bound {
  readonly firstKeys: number;
  readonly deeper: number;
}

/** Memory tokens that are evicted together. */
interface Unit {
  readonly ids: readonly TokenId[];
  /** As evaluated, where their scores are measured. */
  readonly built: readonly PlainCell[];
  /** At the positions at which they are injected. */
  readonly placed: readonly PlainCell[];
}

/** Cells of header and memories that are left. */
export function cellsLeft({ header, lines, prefill, evict }: Omit<Evicted, 'alpha'>): number {
  const units = prefill === 'prefix' ? [lines.flat()] : lines;
  return units.reduce((sum, { length }) => sum + leftBy(evict, length).left, header.length);
}

/**
 * The first thing in which cells are not what an eviction leaves, in words; null where they are. All tokens are evaluated anew, in
 * a session that no arm uses: the header's cells are compared as they are; in each K/V head of each layer the keys and values
 * of every other cell must be those of one memory token, in order, and no token that was dropped may score more than one that
 * was kept.
 * @param found of header and memories @param isExact evaluating again gives the same bits
 */
export async function wrongEviction(
  maker: CellMaker,
  arm: Evicted,
  found: readonly PlainCell[],
  bound: Bound,
  isExact: boolean,
  options: CallOptions,
): Promise<string | null> {
  const header = arm.header.length;
  const wanted = cellsLeft(arm);
  if (found.length !== wanted) return `${found.length} cells in place of ${wanted}`;
  const { layout } = maker.cells;
  const front = restoredCells(await evaluatedBehind(maker, [], arm.header, options), arm.keptAs ?? 'f16', layout);
  const wrong = wrongCells(found.slice(0, header), front, bound);
  if (wrong !== null) return wrong;
  let first = header;
  for (const unit of await unitsOf(maker, arm, front, options)) {
    const { left } = leftBy(arm.evict, unit.ids.length);
    const cells = found.slice(first, first + left);
    const broken = wrongUnit(maker, arm.evict, unit, cells, first, bound, isExact);
    if (broken !== null) return broken;
    first += left;
  }
  return null;
}

async function unitsOf(
  maker: CellMaker,
  { header, lines, prefill, keptAs = 'f16', alpha }: Evicted,
  front: readonly PlainCell[],
  options: CallOptions,
): Promise<Unit[]> {
  const { rotary, layout } = maker.cells;
  const units: Unit[] = [];
  let start = header.length;
  for (const ids of prefill === 'prefix' ? [lines.flat()] : lines) {
    const built =
      prefill === 'prefix'
        ? (await evaluatedBehind(maker, [], [...header, ...ids], options)).slice(header.length)
        : await evaluatedBehindKept(maker, { tokens: header, cells: front, keptAs }, ids, options);
    const distance = start - header.length;
    const kept = restoredCells(built, keptAs, layout);
    const placed = kept.map((cell) => scaledCell(movedCell(cell, cell.position + distance, rotary, layout), alpha));
    units.push({ ids, built, placed });
    start += ids.length;
  }
  return units;
}

/** @param first the number of the first of these cells */
function wrongUnit(
  { cells: { layout } }: CellMaker,
  evict: EvictionName,
  { ids, built, placed }: Unit,
  found: readonly PlainCell[],
  first: number,
  bound: Bound,
  isExact: boolean,
): string | null {
  const { rule, left } = leftBy(evict, ids.length);
  const draw = drawsOf(ids);
  const latest = new Array<number>(left).fill(-1);
  const rounding = isExact ? 0 : bound.deeper;
  for (let layer = 0; layer < layout.layers; layer++) {
    const largest = (numbers: (cell: PlainCell) => Float64Array): number =>
      Math.max(...built.map((cell) => numbers(cell).reduce((most, number) => Math.max(most, Math.abs(number)), 0)));
    const keyError = rounding * largest(({ keys }) => keys[layer]!);
    const valueError = rounding * largest(({ values }) => values[layer]!);
    for (let head = 0; head < layout.heads; head++) {
      const of = (numbers: Float64Array): Float64Array =>
        numbers.subarray(head * layout.headDimension, (head + 1) * layout.headDimension);
      const keys = built.map((cell) => of(cell.keys[layer]!));
      const values = built.map((cell) => of(cell.values[layer]!));
      const scores = plainScores(rule, { keys, values, keyError, valueError }, left, draw);
      const isOf = (cell: number, token: number): boolean =>
        isNear(
          found[cell]!.keys[layer]!,
          placed[token]!.keys[layer]!,
          of,
          layer === 0 ? bound.firstKeys : bound.deeper,
        ) && isNear(found[cell]!.values[layer]!, placed[token]!.values[layer]!, of, bound.deeper);
      const place = `layer ${layer}, head ${head}`;
      const kept = keptTokens(scores, left, isOf);
      if (typeof kept === 'number') return `cell ${first + kept} holds in ${place} keys and values of no token in turn`;
      const missed = missedToken(scores, kept);
      if (missed !== undefined)
        return `${place} dropped token ${missed} of its memories, which scores more than one it kept`;
      kept.forEach((token, cell) => (latest[cell] = Math.max(latest[cell]!, token)));
    }
  }
  latest[left - 1] = ids.length - 1;
  const moved = found.findIndex(({ position }, cell) => position !== placed[latest[cell]!]!.position);
  if (moved === -1) return null;
  const right = placed[latest[moved]!]!.position;
  return `cell ${first + moved} at position ${found[moved]!.position} in place of ${right}`;
}

/** The tokens whose keys and values stand in cells, in order: those of the largest scores where it is these. */
function keptTokens(
  scores: ScoreRange,
  left: number,
  isOf: (cell: number, token: number) => boolean,
): readonly number[] | number {
  const middle = scores.map(({ low, high }) => (low + high) / 2);
  const best = [...scores.keys()]
    .sort((a, b) => middle[b]! - middle[a]! || b - a)
    .slice(0, left)
    .sort((a, b) => a - b);
  if (best.every((token, cell) => isOf(cell, token))) return best;
  const kept: number[] = [];
  for (let token = 0; token < scores.length && kept.length < left; token++) {
    if (isOf(kept.length, token)) kept.push(token);
  }
  return kept.length === left ? kept : kept.length;
}

function missedToken(scores: ScoreRange, kept: readonly number[]): number | undefined {
  const least = Math.min(...kept.map((token) => scores[token]!.high));
  const token = scores.findIndex(({ low }, candidate) => low > least && !kept.includes(candidate));
  return token === -1 ? undefined : token;
}

/** @param of gives the numbers of one head @param bound as a part of the largest number of all heads */
function isNear(
  found: Float64Array,
  expected: Float64Array,
  of: (numbers: Float64Array) => Float64Array,
  bound: number,
): boolean {
  const largest = expected.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const other = of(expected);
  return of(found).every((number, at) => Math.abs(number - other[at]!) <= bound * largest);
}
