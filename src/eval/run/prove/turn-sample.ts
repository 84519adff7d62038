import { SeededRandom } from '../../../base/seeded-random.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { type ControlItems, takesItem } from '../plan/plan-users.ts';

/** Turns per arm that are proven; all if there are fewer. */
const MIN_TURNS = 6;
const SHARE = 0.05;

export type TurnSample = ReturnType<typeof drawTurnSample>;

/** The seeded sample of turns that are proven, however the run is divided. All arms share the drawn questions. */
export function drawTurnSample(
  users: readonly Pick<DatasetUser, 'items'>[],
  arms: readonly ArmTraits[],
  { seed, repeats, controls }: { readonly seed: number; readonly repeats: number; readonly controls?: ControlItems },
) {
  const firstUserItems = new Set(users[0]?.items.map(({ itemId }) => itemId));
  const turns = users.flatMap(({ items }) =>
    items.flatMap((item) => Array.from({ length: repeats }, (_, repeat) => ({ item, repeat }))),
  );
  const shuffled = new SeededRandom(seed).shuffled(turns);
  const drawn = new Set(
    arms.flatMap((arm) => {
      const planned = shuffled.filter(({ item }) => takesItem(arm, item, controls));
      const count = Math.max(MIN_TURNS, Math.ceil(SHARE * planned.length));
      return planned.slice(0, count).map(({ item, repeat }) => turnKey(arm, item, repeat));
    }),
  );
  return {
    /** True for an item of the first user, for whom each arm's first cache hit and miss are proven as well. */
    isOfFirstUser: ({ itemId }: Pick<DatasetItem, 'itemId'>): boolean => firstUserItems.has(itemId),
    has: (arm: ArmTraits, item: Pick<DatasetItem, 'itemId'>, repeat: number): boolean =>
      drawn.has(turnKey(arm, item, repeat)),
  };
}

function turnKey({ name }: ArmTraits, { itemId }: Pick<DatasetItem, 'itemId'>, repeat: number): string {
  return JSON.stringify([name, itemId, repeat]);
}
