import type { Language } from '../../../base/language.ts';
import { tokensOf } from '../../../data/normalise.ts';

function f1(answer: readonly string[], gold: readonly string[]): number {
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
  return Math.max(0, ...golds.map((gold) => f1(tokens, tokensOf(gold, language))));
}
