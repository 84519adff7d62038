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

/** Removes all that judges the answer; what was retrieved, kept and spent stays. */
function withoutQuality(turn: AnsweredRecord): AnsweredRecord {
  const { scores, observed } = turn;
  return {
    ...turn,
    scores: {
      ...scores,
      exactMatch: null,
      tokenF1: null,
      memoryRecall: null,
      rougeL: null,
      bleu: null,
      abstention: null,
      taskSuccess: null,
      wrongClass: null,
      failedStage: scores.failedStage === 'answered' ? null : scores.failedStage,
      passedStages: scores.passedStages.filter((stage) => stage !== 'answered'),
    },
    observed: { ...observed, goldLogProbability: null, goldTokens: [], freeLogProbability: null, agreement: null },
  };
}
