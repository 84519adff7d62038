import type { BenchDatabase } from '../../store/database.ts';
import { type ArmOfRun, type ItemPair, ArmComparisonRepository, type ItemPairScores } from '../../store/arm-comparison-repository.ts'; // prettier-ignore
import { mean } from '../../eval/analysis/statistics/observations.ts';
import { shareGain, tally } from '../../eval/analysis/statistics/paired-quality.ts';

/** Counts items by outcome; reworded: equal scores, different answers. */
function countOutcomes(pairs: readonly ItemPairScores[], itemsA: number, itemsB: number) {
  const gains = pairs.map(({ successA, successB }) => (successA ?? 0) - (successB ?? 0));
  const scored = (pair: number): boolean => pairs[pair]!.successA !== null && pairs[pair]!.successB !== null;
  return {
    items: pairs.length,
    wins: gains.filter((gain, pair) => gain > 0 && scored(pair)).length,
    losses: gains.filter((gain, pair) => gain < 0 && scored(pair)).length,
    reworded: pairs.filter(({ successA, successB, sameAnswer }) => successA === successB && sameAnswer === 0).length,
    onlyA: itemsA - pairs.length,
    onlyB: itemsB - pairs.length,
  };
}

/** Mean task success of A minus B; null without scores. The interval is null if all answers and gold probabilities are equal. */
function successDifference(pairs: readonly ItemPairScores[]) {
  const scored = pairs.flatMap(({ userId, successA: a, successB: b }) =>
    a === null || b === null ? [] : { userId, a, b },
  );
  if (scored.length === 0) return null;
  const { n, users } = tally(scored, 'higher');
  const { delta, low, high } = shareGain(scored);
  const isSame = pairs.every(({ single, sameAnswer, sameGold }) => single + sameAnswer + sameGold === 3);
  return {
    meanA: mean(scored.map(({ a }) => a)),
    meanB: mean(scored.map(({ b }) => b)),
    delta,
    interval: isSame ? null : { low, high },
    n,
    users,
  };
}

/**
 * Pairs the items of two arms. `listed` starts with different scores, then different answers, then equal ones, each in the order
 * of the first run.
 * @param judged false if scores are hidden: `difference` is null then, and scores do not affect the order
 */
export function pairItems(database: BenchDatabase, a: ArmOfRun, b: ArmOfRun, judged: boolean) {
  const repository = new ArmComparisonRepository(database);
  const pairs = repository.scores(a, b);
  const rank = ({ successA, successB, sameAnswer }: ItemPairScores): number =>
    judged && successA !== successB ? 0 : sameAnswer === 1 ? 2 : 1;
  return {
    counts: countOutcomes(pairs, repository.countItems(a), repository.countItems(b)),
    difference: judged ? successDifference(pairs) : null,
    listed: pairs.toSorted((one, other) => rank(one) - rank(other)),
  };
}

export type PairedItems = ReturnType<typeof pairItems>;

/** A page of the pairs. @param page from 1 */
export function readPairs(database: BenchDatabase, { listed }: PairedItems, page: number, size: number): ItemPair[] {
  return new ArmComparisonRepository(database).details(listed.slice((page - 1) * size, page * size));
}
