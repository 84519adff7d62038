import type { BenchDatabase } from '../../store/database.ts';
import { type ArmOfRun, type ItemPair, ItemPairRepository } from '../../store/item-pair-repository.ts';
import { type ItemPairScores, pairMarks } from '../../store/item-pair-scores.ts';
import { knownAnswers } from '../../store/known-answers.ts';
import type { Interval } from '../../eval/analysis/statistics/interval.ts';
import { meanOf, pairsWhere } from '../../eval/analysis/statistics/observations.ts';
import { shareGain } from '../../eval/analysis/summary/paired-quality.ts';
import { tally } from '../../eval/analysis/summary/tally.ts';

/** Counts of items by outcome of the comparison. */
export interface PairCounts {
  /** Items that both have. */
  readonly items: number;
  readonly wins: number;
  readonly losses: number;
  /** Equal scores, different answers. */
  readonly reworded: number;
  readonly onlyA: number;
  readonly onlyB: number;
}

/** Mean task success of A minus that of B, over the items that are scored for both. */
export interface SuccessDifference {
  readonly meanA: number;
  readonly meanB: number;
  readonly delta: number;
  /** 95 % over users; null if answers and probabilities of the gold are the same on every item. */
  readonly interval: Interval | null;
  readonly n: number;
  readonly users: number;
}

/** Two arms paired by item. */
export interface PairedArms {
  readonly counts: PairCounts;
  /** Null if no item is scored for both, or answers are not judged. */
  readonly difference: SuccessDifference | null;
  /**
   * Ids of the first turns of each item, A and B alternating: items whose scores differ first, then those whose answers
   * differ, then the others, each in the order of the first run.
   */
  readonly listed: Float64Array;
}

function counted({ successA, successB, marks, itemsA, itemsB }: ItemPairScores): PairCounts {
  const items = marks.length;
  let [wins, losses, reworded] = [0, 0, 0];
  for (let pair = 0; pair < items; pair++) {
    const a = successA[pair]!;
    const b = successB[pair]!;
    if (a > b) wins++;
    else if (a < b) losses++;
    if (Object.is(a, b) && (marks[pair]! & pairMarks.sameAnswer) === 0) reworded++;
  }
  return { items, wins, losses, reworded, onlyA: itemsA - items, onlyB: itemsB - items };
}

const ALL_SAME = pairMarks.single + pairMarks.sameAnswer + pairMarks.sameGold;

function successDifference({ userOf, userIds, successA, successB, marks }: ItemPairScores): SuccessDifference | null {
  const all = { userOf, userIds, a: successA, b: successB };
  const scored = pairsWhere(all, (a, b) => !Number.isNaN(a) && !Number.isNaN(b));
  if (scored.a.length === 0) return null;
  const { n, users } = tally(scored, 'higher');
  const { delta, low, high } = shareGain(scored);
  return {
    meanA: meanOf(scored.a),
    meanB: meanOf(scored.b),
    delta,
    interval: marks.every((mark) => mark === ALL_SAME) ? null : { low, high },
    n,
    users,
  };
}

function listedOrder({ turnA, turnB, successA, successB, marks }: ItemPairScores, judged: boolean): Float64Array {
  const rank = (pair: number): number =>
    judged && !Object.is(successA[pair], successB[pair]) ? 0 : (marks[pair]! & pairMarks.sameAnswer) > 0 ? 2 : 1;
  const ranks = marks.map((_, pair) => rank(pair));
  const listed = new Float64Array(2 * ranks.length);
  let place = 0;
  for (const wanted of [0, 1, 2]) {
    for (let pair = 0; pair < ranks.length; pair++) {
      if (ranks[pair] !== wanted) continue;
      listed[place++] = turnA[pair]!;
      listed[place++] = turnB[pair]!;
    }
  }
  return listed;
}

/**
 * Pairs two arms by item. All pairs are read once; counts and order are kept for later pages.
 *
 * @param options.judged false if scores are withheld: items with different answers come first then
 */
export function pairedArms(
  database: BenchDatabase,
  a: ArmOfRun,
  b: ArmOfRun,
  options: { readonly judged: boolean },
): PairedArms {
  const { judged } = options;
  const read = (): PairedArms => {
    const pairs = new ItemPairRepository(database).scores(a, b);
    return {
      counts: counted(pairs),
      difference: judged ? successDifference(pairs) : null,
      listed: listedOrder(pairs, judged),
    };
  };
  return knownAnswers(database).of(JSON.stringify(['pairs', a, b, options]), read, ({ listed }) => listed.byteLength);
}

/** A page of the pairs. @param page from 1 */
export function listedPairs(database: BenchDatabase, { listed }: PairedArms, page: number, size: number): ItemPair[] {
  const ids = listed.subarray(2 * (page - 1) * size, 2 * page * size);
  return new ItemPairRepository(database).shown([...ids]);
}
