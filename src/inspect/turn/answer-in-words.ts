import type { FailedTurn, ItemRecord } from '../../records/turn-record.ts';
import { formatNumber } from '../../report/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

/** Names of the scores as tables call them. */
const scoreNames = {
  exactMatch: 'exact match',
  tokenF1: 'token F1',
  memoryRecall: 'memory recall',
  rougeL: 'ROUGE-L',
  bleu: 'BLEU',
  abstention: 'abstention',
} as const;

/** The scores that apply to an answer: `exact match 1 · token F1 0.67`. */
export function scoresInWords({ scores }: AnsweredTurn): string {
  return Object.entries(scoreNames)
    .flatMap(([key, name]) => {
      const value = scores[key as keyof typeof scoreNames];
      return value === null ? [] : [`${name} ${formatNumber(value, value % 1 === 0 ? 0 : 2)}`];
    })
    .join(' · ');
}

/** The verdict on an answer: right, or the class of the error and the stage that failed. */
export function judgementOf({ scores, unknownQuality }: Pick<AnsweredTurn, 'scores' | 'unknownQuality'>): string {
  if (unknownQuality !== null) return `not judged: ${unknownQuality}`;
  if (scores.taskSuccess === 1) return 'right';
  const stage = scores.failedStage === null ? '' : `, failed at: ${scores.failedStage}`;
  return `wrong: ${scores.wrongClass ?? 'not classified'}${stage}`;
}

/** What was cut off in front of an answer; undefined where nothing was. */
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
