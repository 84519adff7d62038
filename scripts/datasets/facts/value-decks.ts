import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { FactValue } from './fact-values.ts';

/**
 * Values of each relation in shuffled order, without repetition until the list is used up, so that they are drawn evenly and
 * the gold answers of a relation differ among users.
 */
export class ValueDecks {
  readonly #random: SeededRandom;
  readonly #lists: Readonly<Record<string, readonly FactValue[]>>;
  readonly #decks = new Map<string, FactValue[]>();

  constructor(random: SeededRandom, lists: Readonly<Record<string, readonly FactValue[]>>) {
    this.#random = random;
    this.#lists = lists;
  }

  /**
   * Draws the next value that is accepted; those that are not stay for later draws.
   * @throws RangeError for an unknown kind, and where a whole list is refused
   */
  draw(relation: string, kind: string, accepts: (value: FactValue) => boolean): FactValue {
    const list = this.#lists[kind];
    if (list === undefined) throw new RangeError(`there is no list of values "${kind}"`);
    const key = `${relation}|${kind}`;
    const deck = this.#decks.get(key) ?? [];
    this.#decks.set(key, deck);
    let place = deck.findIndex(accepts);
    if (place < 0) {
      const start = deck.length;
      deck.push(...this.#random.shuffled(list));
      place = deck.findIndex((value, index) => index >= start && accepts(value));
    }
    if (place < 0) throw new RangeError(`no value of "${kind}" is left for "${relation}"`);
    return deck.splice(place, 1)[0]!;
  }
}
