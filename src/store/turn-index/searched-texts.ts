import { Numbers } from './numbers.ts';

/** Stands for the number of a text that a turn does not have, and for a place or an item that there is not. */
export const NONE = 0xffff_ffff;

/** Distinct texts one behind the other, as they are searched. */
export interface SearchedTexts {
  /** UTF-8, with ASCII letters in lower case. */
  readonly texts: Uint8Array;
  /** The byte behind the last of each. */
  readonly textEnds: Uint32Array;
}

/** Lower case of ASCII letters alone, as in SQLite's LIKE. */
function lowered(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Numbers texts in the order in which they come, and joins them. */
export class TextsBuilder {
  readonly #numbers = new Numbers();

  /** The number of a text; that of null is `NONE`. */
  of(text: string | null): number {
    return text === null ? NONE : this.#numbers.of(lowered(text));
  }

  built(): SearchedTexts {
    const parts = this.#numbers.texts().map((text) => Buffer.from(text));
    let end = 0;
    return { texts: Buffer.concat(parts), textEnds: Uint32Array.from(parts, ({ length }) => (end += length)) };
  }
}

/** Marks the numbers of the texts that hold a part, letters in either case, with 1. */
export function textsHolding({ texts, textEnds }: SearchedTexts, part: string): Uint8Array {
  const found = new Uint8Array(textEnds.length);
  const sought = Buffer.from(lowered(part));
  if (sought.length === 0) return found.fill(1);
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.byteLength);
  let number = 0;
  for (let from = bytes.indexOf(sought); from !== -1;) {
    number = firstEndBehind(textEnds, from, number);
    const end = textEnds[number]!;
    if (from + sought.length <= end) found[number] = 1;
    // One place in a text is enough; a place across two texts is none.
    from = bytes.indexOf(sought, from + sought.length <= end ? end : from + 1);
  }
  return found;
}

/** The text that a byte belongs to: the first that ends behind it. @param least the text is this one or a later one */
function firstEndBehind(ends: Uint32Array, byte: number, least: number): number {
  let [low, high] = [least, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! > byte) high = middle;
    else low = middle + 1;
  }
  return low;
}
