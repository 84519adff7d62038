const accents = /[\u0300-\u036f]/g;
/** A run of letters written without spaces between words, or a word. */
const runs =
  /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+)|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}])+/gu;

/**
 * The terms that a text is found by, in their order, repeated ones too: words in lower case and without accents; of
 * Chinese and Japanese every character and every pair of neighbours, so that words of one character are found and longer
 * ones weigh more.
 *
 * Measured on the Chinese questions of the retrieval set, recall@5 of full-text search alone: characters and pairs 0.88,
 * characters 0.87, pairs 0.85, words by `Intl.Segmenter` 0.77, trigrams 0.76, runs as they stand 0.
 */
export function textTerms(text: string): string[] {
  const plain = text.normalize('NFKD').replace(accents, '').normalize('NFKC').toLowerCase();
  const terms: string[] = [];
  for (const [run, unspaced] of plain.matchAll(runs)) {
    if (unspaced === undefined) {
      terms.push(run);
      continue;
    }
    const characters = [...run];
    for (const [index, character] of characters.entries()) {
      terms.push(character);
      const next = characters[index + 1];
      if (next !== undefined) terms.push(character + next);
    }
  }
  return terms;
}
