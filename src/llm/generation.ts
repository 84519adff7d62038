import type { TokenId } from './model-info.ts';

/** When and how generation goes on and ends. */
export interface GenerationLimits {
  readonly maxTokens: number;
  /** Generation ends where one of these appears. */
  readonly stopTexts?: readonly string[];
  /** 0, the default, always takes the likeliest token. Above it, tokens are drawn from the whole softmax. */
  readonly temperature?: number;
  /** For temperatures above 0. Default 0. */
  readonly seed?: number;
}

/** What was generated, why it ended, and what it took. */
export interface Generation {
  /** Every token that was sampled, those of a stop text included, the end-of-text token not. */
  readonly tokens: readonly TokenId[];
  /** Cut before the stop text, without leading white space. */
  readonly text: string;
  readonly stop: 'end-of-text' | 'stop-text' | 'length';
  /** Inside llama.cpp until the first token was there, its sampling included. */
  readonly prefillMs: number;
  /** From the call to the first token. */
  readonly firstTokenMs: number;
  /** From the first token to the end. */
  readonly decodeMs: number;
  /**
   * Passes over one generated token each. What the prompt took to evaluate is the meter's input + output over
   * the call, less these.
   */
  readonly generatingPasses: number;
}
