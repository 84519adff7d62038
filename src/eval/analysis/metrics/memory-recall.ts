import type { Language } from '../../../base/language.ts';
import { containsTokens } from '../../../data/normalise.ts';

/** 1 if the answer contains one of the golds as a run of tokens, whatever stands around it, else 0. */
export function memoryRecall(answer: string, golds: readonly string[], language: Language): 0 | 1 {
  return golds.some((gold) => containsTokens(answer, gold, language)) ? 1 : 0;
}
