/**
 * Version of the rules by which `exactMatch`, `contains` and `memoryRecall` compare texts. Every run stores its version
 * and is always scored by it; runs without one have version 1.
 *
 * 1: `exactMatch` and `memoryRecall` by SQuAD's normal form, `contains` by words without symbols.
 * 2: all three by `splitWords`: numbers, signs, units, symbols and emojis count; SQuAD's exact match is `squadExactMatch`.
 */
export type MetricsVersion = 1 | 2;

/** The version of new runs. */
export const metricsVersion: MetricsVersion = 2;
