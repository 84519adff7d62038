import { grammars } from '../../../base/grammar.ts';
import type { Language } from '../../../base/language.ts';
import { bleu } from './bleu.ts';
import { contains } from './contains.ts';
import { stemmedF1 } from './locomo-f1.ts';
import { exactMatch, memoryRecall, rougeL, tokenF1 } from './text-overlap.ts';

/** A score of an answer by its golds alone, 0 to 1. */
export type TextMetric = (answer: string, golds: readonly string[], language: Language) => number;

/** `contains` without knowledge of the memories shown: there are no rival values. */
const containsAlone: TextMetric = (answer, golds, language) => {
  const { unknownAnswer } = grammars[language];
  return contains(answer, golds, { query: '', rivals: [], bystanders: [], evidenceTexts: [], language, unknownAnswer });
};

/** The metrics that need the text of an answer only, so that planted answers and golds of other items can be scored. */
export const textMetrics: Readonly<Record<string, TextMetric>> = {
  exactMatch,
  contains: containsAlone,
  memoryRecall,
  tokenF1,
  rougeL,
  bleu,
};

/** The text metric of that name; `contains` for a metric that reads more than the text. */
export function textMetric(name: string): { readonly name: string; readonly score: TextMetric } {
  const score = name === 'locomoF1' ? stemmedF1 : textMetrics[name];
  return score === undefined ? { name: 'contains', score: containsAlone } : { name, score };
}
