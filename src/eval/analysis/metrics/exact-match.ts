import type { Language } from '../../../base/language.ts';
import { normalise } from '../../../data/normalise.ts';

/** 1 if the answer equals one of the golds in normal form, else 0 (SQuAD's exact match). */
export function exactMatch(answer: string, golds: readonly string[], language: Language): 0 | 1 {
  const form = normalise(answer, language);
  return form !== '' && golds.some((gold) => normalise(gold, language) === form) ? 1 : 0;
}
