import { SeededRandom } from '../../../base/seeded-random.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { answersControlItems } from '../../analysis/planned-sample.ts';

/** Items that controls answer, at least; all if there are fewer. */
const FEWEST = 60;
const SHARE = 0.25;

/** Ids of the items that twins and controls with another user's memories answer; undefined for all. */
export type ControlItems = ReadonlySet<string> | undefined;

/**
 * Draws 60 items or a quarter, whichever is more, by seed and evenly over categories. Undefined if these are all, if no arm
 * is limited to them, or if conversations span items: a control that skips an item would continue another conversation.
 */
export function drawControlItems(
  users: readonly Pick<DatasetUser, 'items'>[],
  arms: readonly ArmTraits[],
  seed: number,
): ControlItems {
  const items = users.flatMap((user) => user.items);
  const count = Math.max(FEWEST, Math.ceil(SHARE * items.length));
  const isWhole = count >= items.length || items.some(({ conversation }) => conversation !== undefined);
  if (isWhole || !arms.some(answersControlItems)) return undefined;
  const shuffled = new SeededRandom(seed).shuffled(items);
  const categories = [...Map.groupBy(shuffled, ({ category }) => category).values()];
  const ranked = categories.flatMap((own) => own.map((item, rank) => ({ item, rank })));
  // Stable: of equal ranks, categories are taken in the order of the shuffle.
  const even = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, count);
  return new Set(even.map(({ item }) => item.itemId));
}
