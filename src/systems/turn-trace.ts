import type { TokenId } from '../engine/token-id.ts';
import type { MemorySearchResult } from '../retrieval/retriever.ts';
import type { PrefillRecord } from '../store/records/prefill-record.ts';
import type { RetrievalRecord } from '../store/records/retrieval-record.ts';
import type { TurnAccount } from '../store/records/turn-account.ts';
import type { AnswerRecord } from '../store/records/turn-record.ts';
import type { AnswerOpening } from './prompt/answer-place.ts';

/** One turn as its system made it. */
export interface TurnTrace {
  /** Best first, before selection. */
  readonly retrieved: readonly MemorySearchResult[];
  readonly retrieval: RetrievalRecord | null;
  /** Text of the retriever's own summary; missing where it made none. */
  readonly summary?: string;
  readonly prefill: PrefillRecord | null;
  readonly account: TurnAccount;
  /** The factors of the gate; null without one. */
  readonly gating: Readonly<Record<string, unknown>> | null;
  /** The tokens that were evaluated behind the prefix: the end of the prompt. */
  readonly suffix: readonly TokenId[];
  /** The way in which the prompt opens the answer: its form, and the prefix that the model was given. */
  readonly opening: AnswerOpening;
  /** Positions of the session in front of the suffix: where scoring begins again. */
  readonly prefixPositions: number;
  /** The prompt's tokens, as the session holds them after the turn. */
  readonly sessionTokens: readonly TokenId[];
  readonly answer: AnswerRecord;
}
