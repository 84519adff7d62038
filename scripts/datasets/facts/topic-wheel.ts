import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { Topic } from './fact-grammar.ts';

/** Topics in shuffled rounds, so that the users of a data set talk about all of them. */
export class TopicWheel {
  readonly #random: SeededRandom;
  readonly #topics: readonly Topic[];
  #round: Topic[] = [];

  constructor(random: SeededRandom, topics: readonly Topic[]) {
    this.#random = random;
    this.#topics = topics;
  }

  /** The next topic that suits; those that do not stay for later turns. */
  next(suits: (topic: Topic) => boolean): Topic {
    let place = this.#round.findIndex(suits);
    if (place < 0) {
      this.#round.push(...this.#random.shuffled(this.#topics));
      place = this.#round.findIndex(suits);
    }
    if (place < 0) throw new RangeError('no topic suits');
    return this.#round.splice(place, 1)[0]!;
  }
}
