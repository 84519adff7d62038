import type { SeededRandom } from '../../../src/base/seeded-random.ts';

/** Things in shuffled rounds, so that each is drawn about as often as the others. */
export class Wheel<Thing> {
  readonly #random: SeededRandom;
  readonly #things: readonly Thing[];
  #round: Thing[] = [];

  constructor(random: SeededRandom, things: readonly Thing[]) {
    this.#random = random;
    this.#things = things;
  }

  /** The next thing that suits; those that do not stay for later turns. @throws RangeError if none suits */
  next(suits: (thing: Thing) => boolean): Thing {
    if (!this.#round.some(suits)) this.#round.push(...this.#random.shuffled(this.#things));
    const place = this.#round.findIndex(suits);
    if (place < 0) throw new RangeError('nothing suits');
    return this.#round.splice(place, 1)[0]!;
  }
}
