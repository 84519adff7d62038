import { grammarFor } from '../../../base/english-and-chinese-wordings.ts';
import type { TextMetric } from './text-overlap.ts';
import { bleu, exactMatch, memoryRecall, rougeL, squadExactMatch, squadRecall, tokenF1 } from './text-overlap.ts';
import type { WordsVersion } from '../../../data/number-wordings.ts';
import { contains } from './contains.ts';
import { stemmedF1 } from './locomo-f1.ts';
import { type MetricsVersion, metricsVersion } from './metrics-version.ts';

/** `contains` without the memories shown, and so without rival values. */
const containsAlone =
  (version: MetricsVersion): TextMetric =>
  (answer, golds, language) => {
    const { unknownAnswer } = grammarFor(language);
    const nothing = { query: '', rivals: [], bystanders: [], evidenceTexts: [] };
    return contains(answer, golds, { ...nothing, language, unknownAnswer, version });
  };

type TextMetrics = Readonly<Record<string, TextMetric>>;

const metricsOf = (version: WordsVersion): TextMetrics => ({
  exactMatch: (answer, golds, language) => exactMatch(answer, golds, language, version),
  squadExactMatch,
  contains: containsAlone(version),
  memoryRecall: (answer, golds, language) => memoryRecall(answer, golds, language, version),
  tokenF1,
  rougeL,
  bleu,
});

/** The metrics that need only the text of an answer, so that planted answers and golds of other items can be scored. */
export const textMetrics = metricsOf(metricsVersion);

const byVersion: Readonly<Record<MetricsVersion, TextMetrics>> = {
  1: { ...textMetrics, exactMatch: squadExactMatch, contains: containsAlone(1), memoryRecall: squadRecall },
  2: metricsOf(2),
  3: textMetrics,
};

/** The text metric of that name; `contains` for a metric that reads more than the text. */
export function textMetric(name: string, version: MetricsVersion = metricsVersion) {
  const metrics = byVersion[version];
  const score = name === 'locomoF1' ? stemmedF1 : metrics[name];
  return score === undefined ? { name: 'contains', score: metrics['contains']! } : { name, score };
}
