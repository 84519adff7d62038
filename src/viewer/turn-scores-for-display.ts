import { metricsOfRun, type RunMetrics } from '../eval/analysis/metrics/metric-selection.ts';
import { clearScores } from '../eval/analysis/unknown-quality.ts';
import type { AnsweredTurn, FailedTurn } from '../store/records/turn-record.ts';

/** The scores of an answer, by the run's primary metric first; without task success, which pages show as a verdict. */
function shownScores(turn: AnsweredTurn, { all, primary }: RunMetrics) {
  const { scores } = turn;
  const isOfAnswer = (name: string): boolean =>
    name !== 'taskSuccess' && (name in scores || name in (scores.own ?? {}));
  const others = all.filter((metric) => metric.name !== primary.name && isOfAnswer(metric.name));
  return [primary, ...others].flatMap((metric) => {
    const value = metric.of(turn);
    return value === null ? [] : [{ metric: metric.name, label: metric.label, unit: metric.unit, value }];
  });
}

/** A turn with an answer, and the scores to show. */
export type AnsweredDisplayTurn = AnsweredTurn & {
  /** The reason why scores are hidden (all are null then); null if they are shown. */
  readonly unknownQuality: string | null;
  readonly shownScores: ReturnType<typeof shownScores>;
};

export type DisplayTurn = AnsweredDisplayTurn | FailedTurn;

/** Adds to a stored turn the scores to show. @param unknownQuality the reason why the run measures no quality, which hides all scores, or null */
export function turnForDisplay(
  turn: AnsweredTurn,
  unknownQuality: string | null = null,
  metrics: RunMetrics = metricsOfRun({ dataset: {} }),
): AnsweredDisplayTurn {
  const shown = unknownQuality === null ? turn : clearScores(turn);
  return { ...shown, unknownQuality, shownScores: shownScores(shown, metrics) };
}
