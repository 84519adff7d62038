import type { TokenId } from './token-id.ts';

/** Conditions under which generation goes on and ends. */
export interface GenerationLimits {
  readonly maxTokens: number;
  /** Generation ends where one of these appears. */
  readonly stopTexts?: readonly string[];
  /** 0, the default: greedy, no penalties. Above it, tokens are drawn from the whole softmax. */
  readonly temperature?: number;
  /** For temperatures above 0. Default 0. */
  readonly seed?: number;
  /**
   * Called after each token with its id and the text so far, without an end that may still become a stop text; once with
   * null where generation ends at its first token.
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
  /** Every token that was sampled, those of a stop text included, the end-of-text token not. */
  readonly tokens: readonly TokenId[];
  /** Cut before the stop text, without leading white space. */
  readonly text: string;
  readonly stop: 'end' | 'stop-text' | 'length' | 'aborted';
  /** From the call to the first token. */
  readonly firstTokenMs: number;
  /** From the first token to the end. */
  readonly decodeMs: number;
  /** Empty where the first attempt succeeded. */
  readonly retries: readonly Retry[];
}
