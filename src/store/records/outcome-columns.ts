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

const costs = [
  'firstTokenMs',
  'totalMs',
  'promptTokens',
  'kvResidentTokens',
  'evaluatedTokens',
  'generatedTokens',
] as const;

/** Values of a turn in the outcomes of a report, in the order of its columns; docs/results.md says what each means. */
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
  ...costs,
  'answer',
  'error',
] as const;

/** Numbers by which lists are sorted; turns without the number come last. */
export const turnSorts = ['primaryValue', 'taskSuccess', ...scores, 'evidenceRank', ...costs] as const;

export type OutcomeColumn = (typeof outcomeColumns)[number];

/** Columns that judge an answer: null where the quality of a model is unknown. */
export const judgingColumns: readonly OutcomeColumn[] = [
  'taskSuccess',
  'primaryValue',
  ...scores,
  'wrongClass',
  'failedStage',
];
