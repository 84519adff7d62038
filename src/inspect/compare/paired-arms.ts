import type { BenchDatabase } from '../../db/database.ts';
import {
  type ArmOfRun,
  type ItemPair,
  ItemPairRepository,
  type ItemPairScores,
} from '../../db/item-pair-repository.ts';
import { knownAnswers } from '../../db/known-answers.ts';
import type { Interval } from '../../eval/analysis/statistics/interval.ts';
import { meanOf, pairedObservationsOf } from '../../eval/analysis/statistics/observations.ts';
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

function counted(pairs: readonly ItemPairScores[], itemsA: number, itemsB: number): PairCounts {
  const won = ({ successA: a, successB: b }: ItemPairScores): boolean => a !== null && b !== null && a > b;
  const lost = ({ successA: a, successB: b }: ItemPairScores): boolean => a !== null && b !== null && a < b;
  return {
    items: pairs.length,
    wins: pairs.filter(won).length,
    losses: pairs.filter(lost).length,
    reworded: pairs.filter(({ successA, successB, sameAnswer }) => successA === successB && !sameAnswer).length,
    onlyA: itemsA - pairs.length,
    onlyB: itemsB - pairs.length,
  };
}

function successDifference(pairs: readonly ItemPairScores[]): SuccessDifference | null {
  const scored = pairedObservationsOf(
    pairs.flatMap(({ userId, successA: a, successB: b }) => (a === null || b === null ? [] : [{ userId, a, b }])),
  );
  if (scored.a.length === 0) return null;
  const { n, users } = tally(scored, 'higher');
  const { delta, low, high } = shareGain(scored);
  return {
    meanA: meanOf(scored.a),
    meanB: meanOf(scored.b),
    delta,
    interval: pairs.every(({ single, sameAnswer, sameGold }) => single && sameAnswer && sameGold)
      ? null
      : { low, high },
    n,
    users,
  };
}

function listedOrder(pairs: readonly ItemPairScores[], judged: boolean): Float64Array {
  const rank = ({ successA, successB, sameAnswer }: ItemPairScores): number =>
    judged && successA !== successB ? 0 : sameAnswer ? 2 : 1;
  const ranks = Uint8Array.from(pairs, rank);
  const order = Uint32Array.from(pairs.keys());
  order.sort((a, b) => ranks[a]! - ranks[b]! || pairs[a]!.turnA - pairs[b]!.turnA);
  const listed = new Float64Array(2 * pairs.length);
  order.forEach((pair, place) => listed.set([pairs[pair]!.turnA, pairs[pair]!.turnB], 2 * place));
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
  const repository = new ItemPairRepository(database);
  const read = (): PairedArms => {
    const pairs = repository.scores(a, b);
    return {
      counts: counted(pairs, repository.items(a), repository.items(b)),
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
