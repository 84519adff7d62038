import type { Observed } from './observed.ts';
import type { PrefillRecord } from './prefill-record.ts';
import type { AnsweredTurn, AnswerRecord, FailedTurn, GivenRecord } from './turn-record.ts';

/**
 * The part of a turn that results are computed from: without the tokens that the model was given, and without the texts
 * that no table shows. A whole record is one too.
 */
export type TurnResult = AnsweredResult | FailedTurn;

export interface AnsweredResult extends Omit<AnsweredTurn, 'given' | 'prompt' | 'prefill' | 'answer' | 'observed'> {
  readonly given: Pick<GivenRecord, 'retrieval'>;
  readonly prefill: Pick<PrefillRecord, 'sizeBytes' | 'memoryLines'> | null;
  readonly answer: Pick<AnswerRecord, 'text'>;
  /** The terms of the gold's log-probability without their texts. */
  readonly observed: Omit<Observed, 'goldTokens' | 'nextTokens'> & {
    readonly goldTokens: readonly Pick<Observed['goldTokens'][number], 'logProbability'>[];
  };
}
