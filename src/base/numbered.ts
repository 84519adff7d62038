/** Texts as numbers: those of their places among the sorted ones. */
export interface Numbered {
  /** By place in the list. */
  readonly numbers: Uint32Array;
  /** Each once. */
  readonly sorted: readonly string[];
}

/** Numbers texts so that nothing depends on the order in which they come. */
export function numbered(texts: readonly string[]): Numbered {
  const sorted = [...new Set(texts)].sort();
  const places = new Map(sorted.map((text, place) => [text, place]));
  const numbers = new Uint32Array(texts.length);
  for (let place = 0; place < numbers.length; place++) numbers[place] = places.get(texts[place]!)!;
  return { numbers, sorted };
}
