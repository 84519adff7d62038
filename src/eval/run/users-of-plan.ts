import type { DatasetUser } from '../../data/dataset.ts';
import type { PlannedUser } from '../../store/run-user-repository.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import { isAskedOf } from './asked-of-arm.ts';

/** A user of the plan of a run, and the place at which their questions stand in it. */
export interface UserOfPlan extends PlannedUser {
  readonly user: DatasetUser;
  /** Questions that the users before are asked, of one repeat: the order of arms goes on from there. */
  readonly itemsBefore: number;
}

/** The users of a run in the order of its plan, whoever asks them. */
export function usersOfPlan(
  users: readonly DatasetUser[],
  arms: readonly ArmTraits[],
  repeats: number,
): readonly UserOfPlan[] {
  let itemsBefore = 0;
  return users.map((user, position) => {
    const asked = user.items.flatMap((item) => arms.filter((arm) => isAskedOf(arm, item)));
    const ofPlan = { userId: user.userId, position, turns: asked.length * repeats, user, itemsBefore };
    itemsBefore += user.items.length;
    return ofPlan;
  });
}
