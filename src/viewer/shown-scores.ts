import type { RunMetrics } from '../eval/analysis/metrics/run-metrics.ts';
import type { AnsweredTurn } from '../store/records/turn-record.ts';

/** A score of an answer as its pages show it. */
export interface ShownScore {
  readonly metric: string;
  readonly label: string;
  readonly unit: string;
  readonly value: number;
}

const VERDICT = 'taskSuccess';

/** The scores that apply to an answer, that by the primary metric of its run first. */
export function shownScores(turn: AnsweredTurn, { all, primary }: RunMetrics): ShownScore[] {
  const { scores } = turn;
  const isOfAnswer = (name: string): boolean => name !== VERDICT && (name in scores || name in (scores.own ?? {}));
  const others = all.filter((metric) => metric.name !== primary.name && isOfAnswer(metric.name));
  return [primary, ...others].flatMap((metric) => {
    const value = metric.of(turn);
    return value === null ? [] : [{ metric: metric.name, label: metric.label, unit: metric.unit, value }];
  });
}
