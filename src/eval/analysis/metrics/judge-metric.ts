import type { MetricDefinition } from './metric-definition.ts';

/**
 * The verdict of a model that was asked whether an answer is right (`--judge`): 1 or 0; null until it was asked, and where it
 * gave none. No default, and never primary: whether an answer is right may not depend on a server.
 */
export const judgeMetric: MetricDefinition = {
  ...{ name: 'judge', label: 'judge', kind: 'binary', unit: '%', direction: 'higher', margin: 2 },
  of: ({ scores }) => scores.own?.['judge'] ?? null,
};
