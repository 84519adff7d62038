/** Keywords that select a strategy, and its parameters. */
export interface KeywordRule {
  readonly keywords: readonly string[];
  readonly strategy: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Default rules, in English and Chinese. */
export const defaultKeywordRules: readonly KeywordRule[] = [
  {
    keywords: ['remember', 'recall', 'what did', '记得', '回忆'],
    strategy: 'deep_search',
    params: { search_depth: 3, expand_links: true },
  },
  {
    keywords: ['yesterday', 'recent', 'just now', '昨天', '最近', '刚才'],
    strategy: 'temporal_search',
    params: { time_range: 'recent' },
  },
  {
    keywords: ['personality', 'traits', 'character', '性格', '特点'],
    strategy: 'persona_search',
    params: { include_persona: true },
  },
];

/**
 * Returns the strategies of all rules with a keyword in the question, in the order of the rules, and their parameters, of
 * which the earlier rule's count. A keyword is plain text, matched in any case at the beginning of a word.
 */
export function routeByKeyword(
  question: string,
  rules: readonly KeywordRule[],
): { readonly strategies: readonly string[]; readonly params: Readonly<Record<string, unknown>> } {
  const text = question.normalize('NFKC').toLowerCase();
  const met = rules.filter(({ keywords }) => keywords.some((keyword) => standsIn(text, keyword)));
  return {
    strategies: [...new Set(met.map(({ strategy }) => strategy))],
    params: Object.fromEntries(met.toReversed().flatMap(({ params }) => Object.entries(params))),
  };
}

function standsIn(text: string, keyword: string): boolean {
  const wanted = keyword.normalize('NFKC').toLowerCase();
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    if (!startsInsideWord(text[at - 1], wanted)) return true;
  }
  return false;
}

/** True if a match continues a word of Latin letters; Chinese has no word boundaries. */
function startsInsideWord(before: string | undefined, keyword: string): boolean {
  return before !== undefined && /[\p{Script=Latin}\p{N}]/u.test(before) && /^[\p{Script=Latin}\p{N}]/u.test(keyword);
}
