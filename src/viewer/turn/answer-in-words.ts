import type { FailedTurn, ItemRecord } from '../../store/records/turn-record.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

/** The scores that apply to an answer: `contains 1 · token F1 0.67`. */
export function scoresInWords({ shownScores }: Pick<AnsweredTurn, 'shownScores'>): string {
  return shownScores
    .map(({ label, unit, value }) =>
      unit === '%'
        ? `${label} ${formatNumber(value, value % 1 === 0 ? 0 : 2)}`
        : `${label} ${formatNumber(value, 3)} ${unit}`,
    )
    .join(' · ');
}

/** The verdict on an answer: right, or the class of the error and the stage that failed. */
export function judgementOf({ scores, unknownQuality }: Pick<AnsweredTurn, 'scores' | 'unknownQuality'>): string {
  if (unknownQuality !== null) return `not judged: ${unknownQuality}`;
  if (scores.taskSuccess === 1) return 'right';
  const stage = scores.failedStage === null ? '' : `, failed at: ${scores.failedStage}`;
  return `wrong: ${scores.wrongClass ?? 'not classified'}${stage}`;
}

/** The text that was cut off in front of an answer; undefined where none was. */
export function thoughtInWords({ thoughtTokens }: AnsweredTurn['answer']): string | undefined {
  return thoughtTokens === undefined ? undefined : `behind a thought of ${thoughtTokens} tokens, cut off`;
}

/** The reason of a failed turn: `context-overflow: 600 tokens`. */
export function failureInWords({ error: { code, message } }: FailedTurn): string {
  return code === null ? message : `${code}: ${message}`;
}

/** The kinds of a question, as far as the data set names them: `updated · held-out · recurring · zh`; else empty. */
export function kindsOfItem({ category, phrasing, userKind, language }: ItemRecord): string {
  return [category, phrasing, userKind, language].filter((kind) => kind !== '').join(' · ');
}
