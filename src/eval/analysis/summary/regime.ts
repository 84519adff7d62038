import { onceFor } from '../../../base/once-for.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { TurnAccount } from '../../../store/records/turn-account.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { partnersOf } from '../partners.ts';
import { where } from '../statistics/sublist.ts';
import { cacheOf } from '../turn-measures.ts';
import { turnsOfArm } from '../turns-of-run.ts';

/** Division of the turns of every arm alike: by the cache hits and misses of the primary arm on the same items. */
export interface Regime {
  /** The hits among some turns; the same list each time. */
  readonly hits: (turns: readonly AnsweredResult[]) => readonly AnsweredResult[];
  readonly misses: (turns: readonly AnsweredResult[]) => readonly AnsweredResult[];
  /** False without a primary arm: all turns count as hits. */
  readonly divides: boolean;
}

/** Without a primary arm in the run there is no such division, and every turn counts as a hit. */
export function regimeOf(answered: readonly AnsweredResult[], arms: readonly ArmTraits[]): Regime {
  const primary = arms.find(({ comparison }) => comparison === 'primary');
  if (primary === undefined) return { hits: (turns) => turns, misses: onceFor(() => []), divides: false };
  const ofPrimary = turnsOfArm(answered, primary.name);
  const those = (cache: TurnAccount['cache']) =>
    onceFor((turns: readonly AnsweredResult[]) => {
      const found = partnersOf(turns, ofPrimary).known(cacheOf);
      return where(turns, (_, place) => found.at(place) === cache);
    });
  return { hits: those('hit'), misses: those('miss'), divides: true };
}
