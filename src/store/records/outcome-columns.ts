const scores = [
  'exactMatch',
  'tokenF1',
  'memoryRecall',
  'rougeL',
  'bleu',
  'abstention',
  'goldLogProbability',
  'freeLogProbability',
] as const;

/** Columns of a turn in the outcomes of a report, in order; docs/results.md explains each. */
export const outcomeColumns = [
  'arm',
  'repeat',
  'turn',
  'cache',
  'taskSuccess',
  'primaryValue',
  ...scores,
  'evidenceRank',
  'wrongClass',
  'failedStage',
  'failedChecks',
  'truncated',
  'firstTokenMs',
  'totalMs',
  'promptTokens',
  'kvResidentTokens',
  'evaluatedTokens',
  'generatedTokens',
  'answer',
  'error',
] as const;

export type OutcomeColumn = (typeof outcomeColumns)[number];

/** Columns that judge an answer; null if the quality of the model is unknown. */
export const judgingColumns: readonly OutcomeColumn[] = [
  'taskSuccess',
  'primaryValue',
  ...scores,
  'wrongClass',
  'failedStage',
];
