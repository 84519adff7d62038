import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { BreakEven } from '../../../store/records/results.ts';
import { type Turns, turnsOfArm } from '../arm-turns.ts';
import { differences, mean, pairItems, perItem } from '../statistics/observations.ts';
import { payback } from '../statistics/payback.ts';
import { prefixCacheArm } from './compared-arms.ts';

/** Break-even of an arm against a text arm on the same items; undefined if it never missed or never hit. */
function breakEvenAgainst(text: Turns, turns: Turns): Omit<BreakEven, 'arm' | 'against'> | undefined {
  const firstTokens = (some: Turns) => perItem(some, ({ timings }) => timings.firstToken);
  const pairs = (cache: 'miss' | 'hit') =>
    pairItems(firstTokens(turns.filter(({ account }) => account.cache === cache)), firstTokens(text));
  const [misses, hits] = [pairs('miss'), pairs('hit')];
  if (misses.length === 0 || hits.length === 0) return undefined;
  return {
    missMs: mean(misses.map(({ a }) => a)),
    hitMs: mean(hits.map(({ a }) => a)),
    textMissMs: mean(misses.map(({ b }) => b)),
    textHitMs: mean(hits.map(({ b }) => b)),
    ...payback(differences(misses), differences(hits)),
  };
}

/**
 * Break-even of every arm that injects, against the baseline and against prefix caching if it ran: the first turn builds the KV
 * cache (a miss), later turns find it (hits), and text takes what it took on the same items.
 */
export function breakEvens(answered: Turns, arms: readonly ArmTraits[]): BreakEven[] {
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  const opponents = [baseline, prefixCacheArm(arms)].filter((arm) => arm !== undefined);
  return arms
    .filter(({ injects }) => injects !== 'nothing')
    .flatMap(({ name: arm }) =>
      opponents.flatMap(({ name: against }) => {
        const found = breakEvenAgainst(turnsOfArm(answered, against), turnsOfArm(answered, arm));
        return found === undefined ? [] : [{ arm, against, ...found }];
      }),
    );
}
