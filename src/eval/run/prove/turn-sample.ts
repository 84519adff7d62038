import { SeededRandom } from '../../../base/seeded-random.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { isAskedOf } from '../asked-of-arm.ts';

/** Of an arm's turns so many are proven anew, all where they are fewer. */
const LEAST_TURNS = 10;
const SHARE = 0.05;

/**
 * The turns that are proven anew: a seeded sample of the plan, so that a run draws the same whoever asks its users, and when. It draws the same
 * questions for all arms that are asked them, which then share what is evaluated to prove them.
 */
export class TurnSample {
  readonly #drawn: ReadonlySet<string>;
  readonly #ofFirstUser: ReadonlySet<string>;

  constructor(
    users: readonly Pick<DatasetUser, 'items'>[],
    arms: readonly ArmTraits[],
    { seed, repeats }: { readonly seed: number; readonly repeats: number },
  ) {
    this.#ofFirstUser = new Set(users[0]?.items.map(({ itemId }) => itemId));
    const asked = users.flatMap(({ items }) =>
      items.flatMap((item) => Array.from({ length: repeats }, (_, repeat) => ({ item, repeat }))),
    );
    const drawn = new SeededRandom(seed).shuffled(asked);
    this.#drawn = new Set(
      arms.flatMap((arm) => {
        const planned = drawn.filter(({ item }) => isAskedOf(arm, item));
        const least = Math.max(LEAST_TURNS, Math.ceil(SHARE * planned.length));
        return planned.slice(0, least).map(({ item, repeat }) => keyOf(arm, item, repeat));
      }),
    );
  }

  /** True for a question of the first user, of whom each arm's first cache hit and miss are proven besides. */
  isOfFirstUser({ itemId }: Pick<DatasetItem, 'itemId'>): boolean {
    return this.#ofFirstUser.has(itemId);
  }

  has(arm: ArmTraits, item: Pick<DatasetItem, 'itemId'>, repeat: number): boolean {
    return this.#drawn.has(keyOf(arm, item, repeat));
  }
}

function keyOf({ name }: ArmTraits, { itemId }: Pick<DatasetItem, 'itemId'>, repeat: number): string {
  return JSON.stringify([name, itemId, repeat]);
}
