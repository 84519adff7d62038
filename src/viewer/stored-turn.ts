import { metricsOfRun, type RunMetrics } from '../eval/analysis/metrics/run-metrics.ts';
import { withoutQuality } from '../eval/analysis/unknown-quality.ts';
import type { AnsweredTurn as AnsweredRecord, FailedTurn, TurnRecord } from '../store/records/turn-record.ts';
import { type ShownScore, shownScores } from './shown-scores.ts';

/** A turn that gave an answer, and the reason why its scores are withheld. */
export type AnsweredTurn = AnsweredRecord & {
  /** The reason why no score of the answer is shown, all of them null then; null if they are shown. */
  readonly unknownQuality: string | null;
  /** The scores that apply to the answer, that by the run's primary metric first. */
  readonly shownScores: readonly ShownScore[];
};

/** A turn as the inspector shows it. */
export type InspectedTurn = AnsweredTurn | FailedTurn;

/**
 * Prepares a stored turn for display.
 *
 * @param unknownQuality the reason why the run gives no quality of answers; null if it gives it
 * @param metrics of the run
 */
export function inspectedTurn(
  record: AnsweredRecord,
  unknownQuality?: string | null,
  metrics?: RunMetrics,
): AnsweredTurn;
export function inspectedTurn(record: TurnRecord, unknownQuality?: string | null, metrics?: RunMetrics): InspectedTurn;
export function inspectedTurn(
  record: TurnRecord,
  unknownQuality: string | null = null,
  metrics: RunMetrics = metricsOfRun({ dataset: {} }),
): InspectedTurn {
  if (record.state === 'failed') return record;
  const shown = unknownQuality === null ? record : withoutQuality(record);
  return { ...shown, unknownQuality, shownScores: shownScores(shown, metrics) };
}
