import { type KnownLanguage, knownLanguage, type Language } from '../../../base/language.ts';
import { normalise } from '../../../data/normalise-text.ts';

const REFUSALS: Readonly<Record<KnownLanguage, readonly string[]>> = {
  en: [
    "I don't know",
    'I do not know',
    "I'm not sure",
    'I am not sure',
    "I don't have that information",
    "I don't have any information",
    "I don't remember",
    'I have no information',
    'I cannot answer',
    "You haven't told me",
  ],
  zh: ['我不知道', '不知道', '我不清楚', '不清楚', '我不确定', '我没有相关信息', '没有相关信息', '无法回答'],
};

const HEDGES: Readonly<Record<KnownLanguage, RegExp>> = {
  en: /\b(?:but|however|maybe|perhaps|probably|though)\b/u,
  zh: /但|不过|也许|可能|大概/u,
};

const SENTENCE_END = /[.!?。！？]+/u;

/** True if the answer is the data set's text for "unknown", or a single sentence that begins with a refusal and takes nothing back. */
export function isAbstention(answer: string, unknownAnswer: string, language: Language): boolean {
  const form = normalise(answer, language);
  if (form === '') return false;
  if (form === normalise(unknownAnswer, language)) return true;
  const known = knownLanguage(language);
  if (known === undefined) return false;
  const sentences = answer.split(SENTENCE_END).filter((sentence) => sentence.trim() !== '');
  if (sentences.length !== 1 || HEDGES[known].test(answer.toLowerCase())) return false;
  return REFUSALS[known].some((refusal) => `${form} `.startsWith(`${normalise(refusal, language)} `));
}
