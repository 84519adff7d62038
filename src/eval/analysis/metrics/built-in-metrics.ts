import { mean } from '../statistics/observations.ts';
import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { AnsweredResult, Scores } from '../../../store/records/turn-record.ts';

/** A metric of one turn: its declaration and its value. */
export interface MetricDefinition extends MetricDeclaration {
  /** Null where the metric does not apply to the item. */
  readonly of: (turn: AnsweredResult) => number | null;
}

type ScoreName = Exclude<keyof Scores, 'own' | 'wrongClass' | 'failedStage' | 'passedStages' | 'evidenceRank'>;

const share = { unit: '%', direction: 'higher', margin: 2 } as const;

/** A metric whose value `scoreTurn` stores with the turn; turns of older runs may lack it. */
function score(name: ScoreName, kind: MetricDeclaration['kind'], label: string): MetricDefinition {
  return { ...share, name, kind, label, of: ({ scores }) => scores[name] ?? null };
}

const nats = { kind: 'continuous', unit: 'nats', direction: 'higher', margin: 0.05 } as const;
const divergence = { ...nats, direction: 'lower' } as const;

/** ln p per token of the gold; null for an absent item, and where the gold could not be scored. */
function goldLogProb({ item, observed: { goldLogProbability, goldTokens } }: AnsweredResult): number | null {
  const isScored = item.gold !== null && goldLogProbability !== null && goldTokens.length > 0;
  return isScored ? goldLogProbability / goldTokens.length : null;
}

/** To add a metric, compute it in `score-turn.ts` or read it from the turn, and list it here. Its self-test follows. */
export const builtInMetrics: readonly MetricDefinition[] = [
  score('exactMatch', 'binary', 'exact match'),
  score('squadExactMatch', 'binary', 'SQuAD exact match'),
  score('contains', 'binary', 'contains'),
  score('tokenF1', 'continuous', 'token F1'),
  { ...score('locomoF1', 'continuous', 'LoCoMo F1'), ofAbsent: true },
  score('memoryRecall', 'continuous', 'memory recall'),
  score('rougeL', 'continuous', 'ROUGE-L'),
  score('bleu', 'continuous', 'BLEU'),
  score('abstention', 'binary', 'abstention'),
  score('taskSuccess', 'binary', 'task success'),
  { ...nats, name: 'goldLogProb', label: 'gold answer', of: goldLogProb },
  { ...divergence, name: 'goldKl', label: 'KL over the gold', of: ({ observed }) => observed.goldKl ?? null },
  {
    ...nats,
    name: 'goldLogProbability',
    label: 'gold answer, sum',
    margin: 0.1,
    of: ({ observed }) => observed.goldLogProbability,
  },
  { ...nats, name: 'freeLogProbability', label: 'own answer', of: ({ observed }) => observed.freeLogProbability },
  {
    ...divergence,
    name: 'klDivergence',
    label: 'KL divergence, first token',
    of: ({ observed }) => observed.agreement?.klDivergence ?? null,
  },
  {
    ...share,
    name: 'topOneAgreement',
    kind: 'binary',
    label: 'same likeliest token',
    of: ({ observed: { agreement } }) => (agreement === null ? null : Number(agreement.topOne)),
  },
];

/**
 * Answers with a superseded value and without the gold, over the items whose data name one. No measure of quality, so that
 * it is never primary and has no self-test: silence is as free of old values as a right answer.
 */
export const supersededMetric: MetricDefinition = {
  ...share,
  direction: 'lower',
  name: 'superseded',
  label: 'superseded',
  kind: 'binary',
  of: ({ item, scores }) =>
    scores.taskSuccess === null || (item.superseded ?? 0) === 0 ? null : Number(scores.wrongClass === 'superseded'),
};

/** The mean of a judge's grades of an item's nuggets, each 0, ½ or 1; null without a judge, and unless it graded all. */
export const rubricMetric: MetricDefinition = {
  ...share,
  name: 'rubric',
  kind: 'continuous',
  label: 'rubric',
  of: ({ scores }) => scores.own?.['rubric'] ?? null,
};

/** ln p per token of each nugget where the answer begins, as a mean over the nuggets. Whether it tells right answers is not shown. */
const nuggetLogProb: MetricDefinition = {
  ...nats,
  name: 'nuggetLogProb',
  label: 'nuggets',
  of: ({ observed: { nuggetLogProbabilities: terms = [] } }) => (terms.length === 0 ? null : mean(terms)),
};

/** Metrics without a self-test, which are never primary. */
export const untestedMetrics: readonly MetricDefinition[] = [supersededMetric, rubricMetric, nuggetLogProb];

/** The judge's verdict (`--judge`), 1 or 0. Never primary: what is right must not depend on a server. */
export const judgeMetric: MetricDefinition = {
  ...share,
  name: 'judge',
  label: 'judge',
  kind: 'binary',
  of: ({ scores }) => scores.own?.['judge'] ?? null,
};
