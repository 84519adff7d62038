import { withoutQuality } from '../eval/analysis/unknown-quality.ts';
import type { AnsweredTurn as AnsweredRecord, FailedTurn, TurnRecord } from '../records/turn-record.ts';

/** A turn that gave an answer, and the reason why its scores are withheld. */
export type AnsweredTurn = AnsweredRecord & {
  /** The reason why no score of the answer is shown, all of them null then; null if they are shown. */
  readonly unknownQuality: string | null;
};

/** A turn as the inspector shows it. */
export type InspectedTurn = AnsweredTurn | FailedTurn;

/**
 * Prepares a stored turn for display.
 *
 * @param unknownQuality the reason why the run gives no quality of answers; null if it gives it
 */
export function inspectedTurn(record: TurnRecord, unknownQuality: string | null = null): InspectedTurn {
  if (record.state === 'failed') return record;
  return { ...(unknownQuality === null ? record : withoutQuality(record)), unknownQuality };
}
