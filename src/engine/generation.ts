import type { TokenId } from './token-id.ts';

/** Conditions under which generation goes on and ends. */
export interface GenerationLimits {
  readonly maxTokens: number;
  /** Generation ends where one of these appears. */
  readonly stopTexts?: readonly string[];
  /** Generation ends behind the first sentence. Default false. @see sentenceEnd for the rule */
  readonly oneSentence?: boolean;
  /** 0, the default: greedy, no penalties. Above it, tokens are drawn from the whole softmax. */
  readonly temperature?: number;
  /** For temperatures above 0. Default 0. */
  readonly seed?: number;
  /**
   * Called after each token with its id, −1 where a server has not told it yet, and the text so far, without thoughts, and without an end that may still be cut off;
   * once with null where generation ends at its first token.
   */
  readonly onToken?: (id: TokenId | null, text: string) => void;
}

/** A call that an engine had to make again, and why. */
export interface Retry {
  readonly reason: string;
  readonly waitedMs: number;
}

/** A generated continuation, why it ended, and the time that it took. */
export interface Generation {
  /** Every token that was sampled, those of a thought and behind the end of the text included, the end-of-text token not. */
  readonly tokens: readonly TokenId[];
  /**
   * The answer: behind a thought, cut before the stop text or behind the sentence, without leading white space and without a
   * character that the last token left unfinished.
   */
  readonly text: string;
  /** Of `tokens`, those of a thought, `<think>` and `</think>` included. */
  readonly thoughtTokens: number;
  readonly stop: 'end' | 'stop-text' | 'sentence' | 'length' | 'aborted';
  /** From the call to the first token. */
  readonly firstTokenMs: number;
  /** From the first token to the end. */
  readonly decodeMs: number;
  /** Empty where the first attempt succeeded. */
  readonly retries: readonly Retry[];
}
