import type { Observed } from './observed.ts';
import type { PrefillRecord } from './prefill-record.ts';
import type { AnsweredTurn, AnswerRecord, FailedTurn, GivenRecord } from './turn-record.ts';

/**
 * The part of a turn that results are computed from: without the tokens that the model was given, and without the texts
 * that no table shows. A whole record is one too; those of a stored run look their fields up in columns, and cannot be spread.
 */
export type TurnResult = AnsweredResult | FailedTurn;

export interface AnsweredResult extends Omit<AnsweredTurn, 'given' | 'prompt' | 'prefill' | 'answer' | 'observed'> {
  readonly given: Pick<GivenRecord, 'retrieval'>;
  readonly prefill: Pick<PrefillRecord, 'sizeBytes' | 'memoryLines'> | null;
  readonly answer: Pick<AnswerRecord, 'text'>;
  /** The number of the gold's tokens is left of them. */
  readonly observed: Omit<Observed, 'goldTokens' | 'nextTokens'> & {
    readonly goldTokens: Pick<Observed['goldTokens'], 'length'>;
  };
}
