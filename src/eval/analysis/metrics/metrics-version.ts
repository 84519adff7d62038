import { type WordsVersion, wordsVersion } from '../../../data/number-wordings.ts';

/**
 * Version of the rules by which `exactMatch`, `contains` and `memoryRecall` compare texts. Every run stores its version
 * and is always scored by it; runs without one have version 1.
 *
 * 1: `exactMatch` and `memoryRecall` by SQuAD's normal form, `contains` by words without symbols.
 * 2: all three by `splitWords`: numbers, signs, units, symbols and emojis count; SQuAD's exact match is `squadExactMatch`.
 * 3: as 2, but "7:30pm" equals "7:30 pm", and 一 before a measure word is a number: 一月 equals 1月. 一个 and 一点 stay words.
 */
export type MetricsVersion = 1 | WordsVersion;

/** The version of new runs. */
export const metricsVersion = wordsVersion satisfies MetricsVersion;
