import type { Language } from '../../../base/language.ts';
import { containsTokens, normalise, tokensOf } from '../../../data/normalise.ts';
import { holdsWords, wordForm } from '../../../data/words.ts';

/** 1 if the answer has the words of one of the golds and no others, else 0. */
export function exactMatch(answer: string, golds: readonly string[], language: Language): 0 | 1 {
  const form = wordForm(answer, language);
  return form !== '' && golds.some((gold) => wordForm(gold, language) === form) ? 1 : 0;
}

/** 1 if the answer equals one of the golds in SQuAD's normal form, else 0. */
export function squadExactMatch(answer: string, golds: readonly string[], language: Language): 0 | 1 {
  const form = normalise(answer, language);
  return form !== '' && golds.some((gold) => normalise(gold, language) === form) ? 1 : 0;
}

/** 1 if the answer holds the words of one of the golds, whatever stands around them, else 0. */
export function memoryRecall(answer: string, golds: readonly string[], language: Language): 0 | 1 {
  return golds.some((gold) => holdsWords(answer, gold, language)) ? 1 : 0;
}

/** Version 1 of `memoryRecall`: by tokens of SQuAD's normal form. */
export function squadRecall(answer: string, golds: readonly string[], language: Language): 0 | 1 {
  return golds.some((gold) => containsTokens(answer, gold, language)) ? 1 : 0;
}

/** Harmonic mean of precision and recall over two bags of tokens. */
export function bagF1(answer: readonly string[], gold: readonly string[]): number {
  const left = new Map<string, number>();
  for (const token of gold) left.set(token, (left.get(token) ?? 0) + 1);
  let common = 0;
  for (const token of answer) {
    const count = left.get(token) ?? 0;
    if (count === 0) continue;
    left.set(token, count - 1);
    common++;
  }
  return common === 0 ? 0 : (2 * common) / (answer.length + gold.length);
}

/** Harmonic mean of token precision and recall over bags of tokens, 0 to 1, best over the golds (SQuAD's F1). */
export function tokenF1(answer: string, golds: readonly string[], language: Language): number {
  const tokens = tokensOf(answer, language);
  return Math.max(0, ...golds.map((gold) => bagF1(tokens, tokensOf(gold, language))));
}

function longestCommonSubsequence(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const token of a) {
    const next = [0];
    b.forEach((other, index) => {
      next.push(token === other ? row[index]! + 1 : Math.max(row[index + 1]!, next[index]!));
    });
    row = next;
  }
  return row[b.length]!;
}

/**
 * Harmonic mean of precision and recall of the longest common subsequence of tokens, 0 to 1, best over the golds.
 * @see Lin 2004, ROUGE, §3.1, with β = 1
 */
export function rougeL(answer: string, golds: readonly string[], language: Language): number {
  const tokens = tokensOf(answer, language);
  const scores = golds.map((gold) => {
    const reference = tokensOf(gold, language);
    const common = longestCommonSubsequence(tokens, reference);
    return common === 0 ? 0 : (2 * common) / (tokens.length + reference.length);
  });
  return Math.max(0, ...scores);
}
