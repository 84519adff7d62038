import { chineseNames } from './chinese-names.ts';

/** Every two neighbouring characters of a text. */
function pairsOf(text: string): Set<string> {
  const characters = [...text];
  return new Set(characters.slice(1).map((character, index) => characters[index]! + character));
}

/** The texts of a user by the Chinese names that they hold, whichever of them introduces a name. */
export class ChineseNameIndex {
  readonly #texts = new Map<string, string>();
  /** Ids of texts by each of their pairs of characters. */
  readonly #byPair = new Map<string, Set<string>>();
  /** Names by their first pair; they stay known after their last text is removed. */
  readonly #names = new Map<string, Set<string>>();

  add(id: string, content: string): void {
    const text = content.normalize('NFKC');
    if (!/\p{Script=Han}/u.test(text)) return;
    this.#texts.set(id, text);
    for (const pair of pairsOf(text)) this.#byPair.set(pair, (this.#byPair.get(pair) ?? new Set()).add(id));
    for (const name of chineseNames(text)) {
      const [first] = pairsOf(name);
      this.#names.set(first!, (this.#names.get(first!) ?? new Set()).add(name));
    }
  }

  remove(id: string): void {
    for (const pair of pairsOf(this.#texts.get(id) ?? '')) {
      const ids = this.#byPair.get(pair)!;
      ids.delete(id);
      if (ids.size === 0) this.#byPair.delete(pair);
    }
    this.#texts.delete(id);
  }

  /** For each name in a text, the ids of all texts with it. */
  holders(id: string): string[][] {
    const text = this.#texts.get(id) ?? '';
    const names = [...pairsOf(text)].flatMap((pair) => [...(this.#names.get(pair) ?? [])]);
    return names
      .filter((name) => text.includes(name))
      .map((name) => {
        const [first] = pairsOf(name);
        return [...(this.#byPair.get(first!) ?? [])].filter((other) => this.#texts.get(other)!.includes(name));
      });
  }
}
