/** Values of a turn in the outcomes of a report, in the order of its columns; docs/results.md says what each means. */
export const outcomeColumns = [
  'arm',
  'repeat',
  'turn',
  'cache',
  'taskSuccess',
  'primaryValue',
  'exactMatch',
  'tokenF1',
  'memoryRecall',
  'rougeL',
  'bleu',
  'abstention',
  'goldLogProbability',
  'freeLogProbability',
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

/** Columns that judge an answer: null where the quality of a model is unknown. */
export const judgingColumns: readonly OutcomeColumn[] = [
  'taskSuccess',
  'primaryValue',
  'exactMatch',
  'tokenF1',
  'memoryRecall',
  'rougeL',
  'bleu',
  'abstention',
  'goldLogProbability',
  'freeLogProbability',
  'wrongClass',
  'failedStage',
];
