import type { ArmTraits } from '../../../records/arm-traits.ts';
import type { TurnAccount } from '../../../records/turn-account.ts';
import type { AnsweredResult } from '../../../records/turn-result.ts';
import { pairKey } from '../turns-of-run.ts';

/** Division of the turns of every arm alike: by the cache hits and misses of the primary arm on the same items. */
export interface Regime {
  readonly isHit: (turn: AnsweredResult) => boolean;
  readonly isMiss: (turn: AnsweredResult) => boolean;
  /** False without a primary arm: all turns count as hits. */
  readonly divides: boolean;
}

/** Without a primary arm in the run there is no such division, and every turn counts as a hit. */
export function regimeOf(answered: readonly AnsweredResult[], arms: readonly ArmTraits[]): Regime {
  const primary = arms.find(({ comparison }) => comparison === 'primary');
  if (primary === undefined) return { isHit: () => true, isMiss: () => false, divides: false };
  const turns = answered.filter((turn) => turn.arm === primary.name);
  const caches = new Map(turns.map((turn) => [pairKey(turn), turn.account.cache]));
  const isOf = (cache: TurnAccount['cache']) => (turn: AnsweredResult) => caches.get(pairKey(turn)) === cache;
  return { isHit: isOf('hit'), isMiss: isOf('miss'), divides: true };
}
