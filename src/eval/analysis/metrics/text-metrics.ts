import { grammars } from '../../../base/grammar.ts';
import type { Language } from '../../../base/language.ts';
import { bleu } from './bleu.ts';
import { contains } from './contains.ts';
import { exactMatch } from './exact-match.ts';
import { stemmedF1 } from './locomo-f1.ts';
import { memoryRecall } from './memory-recall.ts';
import { rougeL } from './rouge-l.ts';
import { tokenF1 } from './token-f1.ts';

/** A score of an answer by its golds alone, 0 to 1. */
export type TextMetric = (answer: string, golds: readonly string[], language: Language) => number;

/** `contains` where it is not known what was shown: no value is a rival, and nobody recites. */
const containsAlone: TextMetric = (answer, golds, language) =>
  contains(answer, golds, {
    ...{ query: '', rivals: [], bystanders: [], evidenceTexts: [], language },
    unknownAnswer: grammars[language].unknownAnswer,
  });

/** The metrics that a text decides, so that planted answers and golds of other items can be scored. */
export const textMetrics: Readonly<Record<string, TextMetric>> = {
  exactMatch,
  contains: containsAlone,
  memoryRecall,
  tokenF1,
  rougeL,
  bleu,
};

/** Metrics of one data set, as far as a text decides them. */
const metricsOfOneSet: Readonly<Record<string, TextMetric>> = { locomoF1: stemmedF1 };

/** The metric of that name as a text decides it; `contains` where it reads more than the text. */
export function textMetricOf(name: string): { readonly name: string; readonly score: TextMetric } {
  const score = textMetrics[name] ?? metricsOfOneSet[name];
  return score === undefined ? { name: 'contains', score: containsAlone } : { name, score };
}
