import type { Comparison, RunResults } from '../store/records/results.ts';
import { metricNamed, primaryMetric, type ShownMetric } from './shown-metric.ts';
import { formatNumber } from '../render/table.ts';
import { tooFewUsers } from './users-text.ts';

/** The verdicts by one metric, of the planned comparisons alone; undefined without any. */
function verdictClauses(metric: ShownMetric, { comparisons }: RunResults, baseline: string): string | undefined {
  const planned = comparisons.filter(
    (compared) => compared.metric === metric.name && compared.b === baseline && compared.pAdjusted !== null,
  );
  const shown = (value: number): string => formatNumber(value * metric.scale, metric.digits);
  const difference = ({ delta, low, high, neededItems }: Comparison): string => {
    const needs = neededItems === undefined ? '' : `, needs ${neededItems} items`;
    return `(${shown(delta)} ${metric.differenceUnit} [${shown(low)}, ${shown(high)}]${needs})`;
  };
  const clause = (
    verdict: Comparison['verdict'],
    words: string,
    detail: (compared: Comparison) => string,
  ): string[] => {
    const having = planned.filter((compared) => compared.verdict === verdict);
    if (having.length === 0) return [];
    return [`${words}: ${having.map((compared) => `${compared.a} ${detail(compared)}`).join(', ')}`];
  };
  const clauses = [
    ...clause('identical', `bit-identical to ${baseline}`, ({ n }) => `on ${n} of ${n} items`),
    ...clause('kept', `kept ${baseline}'s answers within the margin`, difference),
    ...clause('lost', 'lost answers', difference),
    ...clause('undecided', 'undecided', difference),
    ...clause('too few users', 'no verdict', difference),
  ];
  return clauses.length === 0 ? undefined : clauses.join('; ');
}

/** The verdicts on the primary metric and on abstention, a sentence each, and the reason where there are none. */
export function qualitySentences(results: RunResults, baseline: string): string[] {
  const primary = primaryMetric(results.run);
  const abstention = primary.name === 'abstention' ? undefined : metricNamed(results.run, 'abstention');
  const tooFew = tooFewUsers(results.run);
  const sentences = [primary, abstention].flatMap((metric) => {
    const clauses = metric === undefined ? undefined : verdictClauses(metric, results, baseline);
    return clauses === undefined ? [] : [`${metric!.title}: ${clauses}.`];
  });
  return sentences.length === 0 || tooFew === undefined ? sentences : [...sentences, `No verdict: ${tooFew}.`];
}
