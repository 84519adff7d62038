/**
 * Version of the rules by which `exactMatch`, `contains` and `memoryRecall` compare texts. It is stored with every run, and its
 * answers are scored by that version ever after; runs without one were made with version 1.
 *
 * 1: `exactMatch` and `memoryRecall` by SQuAD's normal form, `contains` by words without symbols.
 * 2: all three by `wordsOf`: numbers, signs, units, symbols and emojis count; SQuAD's exact match is `squadExactMatch`.
 */
export type MetricsVersion = 1 | 2;

/** The version of new runs. */
export const metricsVersion: MetricsVersion = 2;
