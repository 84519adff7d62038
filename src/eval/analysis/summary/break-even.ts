import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { BreakEven } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { differences, meanOf, type PairedObservations } from '../statistics/observations.ts';
import { payback } from '../statistics/payback.ts';
import { paired, perItem } from '../statistics/per-item.ts';
import { whereOf } from '../statistics/sublist.ts';
import { turnsOfArm } from '../turns-of-run.ts';
import { prefixCacheOf } from './compared-arms.ts';
import { cacheOf, timingOf } from '../turn-measures.ts';

/** Break-even of an arm against one of text on the same items; undefined where it never missed or never hit. */
function breakEvenAgainst(
  against: string,
  text: readonly AnsweredResult[],
  arm: string,
  turns: readonly AnsweredResult[],
): BreakEven | undefined {
  const [misses, hits] = (['miss', 'hit'] as const).map((cache) =>
    paired(
      perItem(
        whereOf(turns, cacheOf, (found) => found === cache),
        timingOf.firstToken,
      ),
      perItem(text, timingOf.firstToken),
    ),
  ) as [PairedObservations, PairedObservations];
  if (misses.a.length === 0 || hits.a.length === 0) return undefined;
  return {
    ...{ arm, against },
    ...{ missMs: meanOf(misses.a), hitMs: meanOf(hits.a), textMissMs: meanOf(misses.b), textHitMs: meanOf(hits.b) },
    ...payback(differences(misses), differences(hits)),
  };
}

/**
 * Break-even of every arm that injects, against the baseline and against prefix caching where it ran, each over the turns that the
 * arm injected in: the first turn is one that builds, and later ones find; text takes what it took on the same items.
 */
export function breakEvens(answered: readonly AnsweredResult[], arms: readonly ArmTraits[]): BreakEven[] {
  const opponents = [arms.find(({ comparison }) => comparison === 'baseline'), prefixCacheOf(arms)].flatMap(
    (traits) => traits?.name ?? [],
  );
  return arms.flatMap(({ name, injects }) =>
    injects === 'nothing'
      ? []
      : opponents.flatMap(
          (against) => breakEvenAgainst(against, turnsOfArm(answered, against), name, turnsOfArm(answered, name)) ?? [],
        ),
  );
}
