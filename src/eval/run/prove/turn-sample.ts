import { SeededRandom } from '../../../config/seeded-random.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import type { ArmTraits } from '../../../records/arm-traits.ts';
import { isAskedOf } from '../asked-of-arm.ts';

/** Of an arm's turns so many are proven anew, all where they are fewer. */
const LEAST_TURNS = 10;
const SHARE = 0.05;

/** The turns that are proven anew: a seeded sample of the plan for each arm, so that a run that is resumed draws the same. */
export class TurnSample {
  readonly #drawn: ReadonlySet<string>;

  constructor(
    users: readonly Pick<DatasetUser, 'items'>[],
    arms: readonly ArmTraits[],
    { seed, repeats }: { readonly seed: number; readonly repeats: number },
  ) {
    const random = new SeededRandom(seed);
    const items = users.flatMap((user) => user.items);
    this.#drawn = new Set(
      arms.flatMap((arm) => {
        const planned = items
          .filter((item) => isAskedOf(arm, item))
          .flatMap((item) => Array.from({ length: repeats }, (_, repeat) => keyOf(arm, item, repeat)));
        return random.shuffled(planned).slice(0, Math.max(LEAST_TURNS, Math.ceil(SHARE * planned.length)));
      }),
    );
  }

  has(arm: ArmTraits, item: Pick<DatasetItem, 'itemId'>, repeat: number): boolean {
    return this.#drawn.has(keyOf(arm, item, repeat));
  }
}

function keyOf({ name }: ArmTraits, { itemId }: Pick<DatasetItem, 'itemId'>, repeat: number): string {
  return JSON.stringify([name, itemId, repeat]);
}
