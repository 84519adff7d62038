import type { Language } from '../../../base/language.ts';
import { tokensOf } from '../../../data/normalise.ts';

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
  return Math.max(
    0,
    ...golds.map((gold) => {
      const reference = tokensOf(gold, language);
      const common = longestCommonSubsequence(tokens, reference);
      return common === 0 ? 0 : (2 * common) / (tokens.length + reference.length);
    }),
  );
}
