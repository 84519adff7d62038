import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { TurnSample } from './prove/turn-sample.ts';
import type { UserOfPlan } from './users-of-plan.ts';

/** Repeats of a run, its arms, and the turns that it proves anew. */
interface WorkOfRun {
  readonly arms: readonly ArmTraits[];
  readonly repeats: number;
  readonly sample: Pick<TurnSample, 'has'>;
}

/**
 * The order in which several workers claim users: those of the most work first, so that the last ones, whom some workers ask
 * while others have nobody left, are short. Users of equal work stay in the order of the plan.
 */
export function claimOrder(users: readonly UserOfPlan[], run: WorkOfRun): readonly UserOfPlan[] {
  const work = new Map(users.map((user) => [user, user.turns + provenTurns(user, run)]));
  return users.toSorted((a, b) => work.get(b)! - work.get(a)!);
}

/** Turns of a user that are proven anew: each takes about as long as another turn. */
function provenTurns({ user }: UserOfPlan, { arms, repeats, sample }: WorkOfRun): number {
  let proven = 0;
  for (const item of user.items) {
    for (const arm of arms) {
      for (let repeat = 0; repeat < repeats; repeat++) if (sample.has(arm, item, repeat)) proven++;
    }
  }
  return proven;
}
