import type { KeywordRule } from './pre-retrieval-config.ts';

/**
 * Returns the strategies of all rules with a keyword in the question, in the order of the rules, and their parameters;
 * of equal ones the earlier rule's counts. A keyword is plain text, matched in any case at the beginning of a word.
 */
export function routeByKeyword(question: string, rules: readonly KeywordRule[]) {
  const text = question.normalize('NFKC').toLowerCase();
  const matching = rules.filter(({ keywords }) => keywords.some((keyword) => containsKeyword(text, keyword)));
  return {
    strategies: [...new Set(matching.map(({ strategy }) => strategy))],
    params: Object.fromEntries(matching.toReversed().flatMap(({ params }) => Object.entries<unknown>(params))),
  };
}

/** Latin letters and digits do not continue a word; Chinese has no word boundaries. */
function containsKeyword(text: string, keyword: string): boolean {
  const wanted = keyword.normalize('NFKC').toLowerCase();
  const isWord = (character: string | undefined): boolean => /^[\p{Script=Latin}\p{N}]/u.test(character ?? '');
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    if (!isWord(wanted) || !isWord(text[at - 1])) return true;
  }
  return false;
}
