import type { MetricDeclaration } from '../../../store/records/metric-declaration.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { numberField } from '../turn-field.ts';
import type { Measure } from '../statistics/per-item.ts';
import type { MetricDefinition } from './metric-definition.ts';

type ScoreName =
  | 'exactMatch'
  | 'contains'
  | 'tokenF1'
  | 'locomoF1'
  | 'memoryRecall'
  | 'rougeL'
  | 'bleu'
  | 'abstention'
  | 'taskSuccess';

const share = { unit: '%', direction: 'higher', margin: 2 } as const;

function score(name: ScoreName, kind: MetricDeclaration['kind'], label: string): MetricDefinition {
  return { ...share, name, kind, label, ...numberField('scores', name) };
}

function nats(
  declared: Pick<MetricDeclaration, 'name' | 'label' | 'margin' | 'direction'>,
  measure: Measure<AnsweredResult>,
): MetricDefinition {
  return { ...declared, kind: 'continuous', unit: 'nats', ...measure };
}

/** ln p a token of the gold, at its place; null of an absent item, and where it could not be scored. */
function goldLogProb({ item, observed: { goldLogProbability, goldTokens } }: AnsweredResult): number | null {
  const scored = item.gold !== null && goldLogProbability !== null && goldTokens.length > 0;
  return scored ? goldLogProbability / goldTokens.length : null;
}

/** All metrics of a turn that the bench knows. */
export const builtInMetrics: readonly MetricDefinition[] = [
  score('exactMatch', 'binary', 'exact match'),
  score('contains', 'binary', 'contains'),
  score('tokenF1', 'continuous', 'token F1'),
  { ...score('locomoF1', 'continuous', 'LoCoMo F1'), ofAbsent: true },
  score('memoryRecall', 'binary', 'memory recall'),
  score('rougeL', 'continuous', 'ROUGE-L'),
  score('bleu', 'continuous', 'BLEU'),
  score('abstention', 'binary', 'abstention'),
  score('taskSuccess', 'binary', 'task success'),
  nats({ name: 'goldLogProb', label: 'gold answer', direction: 'higher', margin: 0.05 }, { of: goldLogProb }),
  nats(
    { name: 'goldKl', label: 'KL over the gold', direction: 'lower', margin: 0.05 },
    numberField('observed', 'goldKl'),
  ),
  nats(
    { name: 'goldLogProbability', label: 'gold answer, sum', direction: 'higher', margin: 0.1 },
    numberField('observed', 'goldLogProbability'),
  ),
  nats(
    { name: 'freeLogProbability', label: 'own answer', direction: 'higher', margin: 0.05 },
    numberField('observed', 'freeLogProbability'),
  ),
  nats(
    { name: 'klDivergence', label: 'KL divergence, first token', direction: 'lower', margin: 0.05 },
    { of: ({ observed }) => observed.agreement?.klDivergence ?? null },
  ),
  {
    ...share,
    name: 'topOneAgreement',
    kind: 'binary',
    label: 'same likeliest token',
    of: ({ observed: { agreement } }) => (agreement === null ? null : Number(agreement.topOne)),
  },
];
