import { rootMeanSquare } from 'simple-statistics';
import { norm } from '../../../base/vectors.ts';
import type { CallOptions } from '../../../engine/call-options.ts';
import type { TokenRange } from '../../../engine/token-id.ts';
import { type MeasuredSelection, selectTokens } from '../../../systems/prefill/select-tokens.ts';
import { type CellMaker, expectedCells, type ExpectedParts } from './expected-cells.ts';
import { attentionOfQuestion } from './plain-attention.ts';
import { missedRun, type ScoredParts, type TokenScores } from './token-scores.ts';
import type { PlainCell } from './plain-cells.ts';

/** Tokens whose probabilities are read at once, each perhaps with a whole distribution. */
const SCORED_AT_ONCE = 10;
/** Rounding of the numbers in cells changes ln p by no more than this times as much. */
const NATS = 8;
/** More nats than any token takes. */
const RANK_APART = 1e6;

/**
 * The first thing in which positions are not those of the largest scores, which are measured anew, in a session that no arm
 * uses and by other code; null where they are, and where nothing was to be chosen.
 * @param rounding of keys and values, as a part of the largest number
 */
export async function wrongSelection(
  maker: CellMaker,
  { by, share, run = 1 }: MeasuredSelection,
  parts: ScoredParts,
  claimed: readonly TokenRange[],
  rounding: number,
  options: CallOptions,
): Promise<string | null> {
  const { header, lines } = parts;
  const begin = header.length + (lines[0]?.length ?? 0);
  const end = header.length + lines.flat().length;
  // As many as any rule takes at that share.
  const taken = selectTokens(
    { by: 'first', share },
    lines.map((tokenIds) => ({ tokenIds, rank: 0 })),
  );
  const budget = positionsIn(taken).size;
  const selected = positionsIn(claimed);
  const outside = [...selected].find((position) => position < begin || position >= end);
  if (outside !== undefined) return `position ${outside} was recomputed, which no rule may select`;
  const runs = runsOf(lines, run, begin);
  const cut = runs.find((places) => new Set(places.map((place) => selected.has(place))).size > 1);
  if (cut !== undefined) return `of the run at position ${cut[0]} a part was selected`;
  const [fewest, most] = budget > 0 ? [Math.max(1, budget - run + 1), Math.max(budget, run)] : [0, 0];
  if (selected.size < fewest || selected.size > most) {
    return `${selected.size} tokens were selected in place of ${budget}`;
  }
  if (budget === 0 || budget === end - begin) return null;
  const found = missedRun(runs, selected, await measured[by](maker, parts, rounding, options));
  return found === null
    ? null
    : `position ${found.position} was not selected, and scores ${found.score.toFixed(3)} where one that was scores ${found.least.toFixed(3)}`;
}

/** The positions of the lines behind the first, so many neighbours of a line together, the last of each perhaps fewer. */
function runsOf(lines: ExpectedParts['lines'], run: number, begin: number): (readonly number[])[] {
  const runs: number[][] = [];
  let position = begin;
  for (const line of lines.slice(1)) {
    for (const [place] of [...line].entries()) {
      if (place % run === 0) runs.push([]);
      runs.at(-1)!.push(position++);
    }
  }
  return runs;
}

const measured: Readonly<
  Record<
    MeasuredSelection['by'],
    (maker: CellMaker, parts: ScoredParts, rounding: number, options: CallOptions) => Promise<TokenScores>
  >
> = {
  'cacheblend-oracle': (...asked) => deviations(0, Infinity, ...asked),
  // Of the whole model: what its first layers alone were asked for must agree.
  cacheblend: (...asked) => deviations(1, 2, ...asked),
  informative: surprises,
  'ranked-informative': surprisesByRank,
  query: attentionOfQuestion,
};

/** Distances between the cells of joined blocks and those of the text, in these layers. */
async function deviations(
  fromLayer: number,
  toLayer: number,
  maker: CellMaker,
  { header, lines, making, keptAs }: ExpectedParts,
  rounding: number,
  options: CallOptions,
): Promise<TokenScores> {
  const text = await expectedCells(maker, 'prefix', { header, lines }, 1, options);
  const joined = await expectedCells(maker, 'blocks', { header, lines, making, keptAs }, 1, options);
  const numbersOf = ({ keys, values }: PlainCell): Float64Array =>
    Float64Array.from(
      [keys, values].flatMap((all) => all.slice(fromLayer, toLayer).flatMap((numbers) => [...numbers])),
    );
  const others = text.map(numbersOf);
  const own = joined.map(numbersOf);
  const scores = own.map((numbers, cell) =>
    cell < header.length ? 0 : norm(numbers.map((number, at) => number - others[cell]![at]!)),
  );
  // The mean of squares orders runs, whose root lies no further off than the distances do.
  return { scores, tolerance: 2 * rounding * Math.max(...own.map(norm)), ofRun: rootMeanSquare };
}

/** −ln p of each token of a line, behind the header and what precedes it there. */
async function surprises(
  { fresh }: CellMaker,
  { header, lines }: ExpectedParts,
  rounding: number,
  options: CallOptions,
): Promise<TokenScores> {
  const scores = header.map(() => 0);
  const session = fresh.use();
  for (const line of lines) {
    for (let at = 0; at < line.length; at += SCORED_AT_ONCE) {
      await session.clear(options);
      const front = [...header, ...line.slice(0, at)];
      const { logProbabilities } = await session.score(front, line.slice(at, at + SCORED_AT_ONCE), options);
      scores.push(...logProbabilities.map((logProbability) => -logProbability));
    }
  }
  return { scores, tolerance: NATS * rounding };
}

/** The same, any token of a block that was retrieved better before all of a worse one. */
async function surprisesByRank(
  maker: CellMaker,
  parts: ExpectedParts,
  rounding: number,
  options: CallOptions,
): Promise<TokenScores> {
  const { scores, tolerance } = await surprises(maker, parts, rounding, options);
  const { header, lines, ranks } = parts;
  const ranked = lines.flatMap((line, index) => line.map(() => ranks?.[index] ?? index));
  return { scores: scores.map((score, at) => score - RANK_APART * (ranked[at - header.length] ?? 0)), tolerance };
}

/** The positions in ranges. */
function positionsIn(ranges: readonly TokenRange[]): ReadonlySet<number> {
  return new Set(ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index)));
}
