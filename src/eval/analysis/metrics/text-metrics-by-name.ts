import { grammarFor } from '../../../base/english-and-chinese-wordings.ts';
import type { Language } from '../../../base/language.ts';
import { bleu, exactMatch, memoryRecall, rougeL, squadExactMatch, squadRecall, tokenF1 } from './text-overlap.ts';
import { contains } from './contains.ts';
import { stemmedF1 } from './locomo-f1.ts';
import { type MetricsVersion, metricsVersion } from './metrics-version.ts';

/** Scores an answer by its golds alone, 0 to 1. */
export type TextMetric = (answer: string, golds: readonly string[], language: Language) => number;

/** `contains` without the memories shown, and so without rival values. */
const containsAlone =
  (version: MetricsVersion): TextMetric =>
  (answer, golds, language) => {
    const { unknownAnswer } = grammarFor(language);
    const nothing = { query: '', rivals: [], bystanders: [], evidenceTexts: [] };
    return contains(answer, golds, { ...nothing, language, unknownAnswer, version });
  };

/** The metrics that need only the text of an answer, so that planted answers and golds of other items can be scored. */
export const textMetrics: Readonly<Record<string, TextMetric>> = {
  exactMatch,
  squadExactMatch,
  contains: containsAlone(metricsVersion),
  memoryRecall,
  tokenF1,
  rougeL,
  bleu,
};

const version1: Readonly<Record<string, TextMetric>> = {
  ...textMetrics,
  exactMatch: squadExactMatch,
  contains: containsAlone(1),
  memoryRecall: squadRecall,
};

/** The text metric of that name; `contains` for a metric that reads more than the text. */
export function textMetric(name: string, version: MetricsVersion = metricsVersion) {
  const metrics = version === 1 ? version1 : textMetrics;
  const score = name === 'locomoF1' ? stemmedF1 : metrics[name];
  return score === undefined ? { name: 'contains', score: metrics['contains']! } : { name, score };
}
