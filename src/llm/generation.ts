import type { TokenId } from './model-info.ts';
import { stopTextWatcher, textThatStays } from './stop-texts.ts';

/** When and how generation goes on and ends. */
export interface GenerationLimits {
  readonly maxTokens: number;
  /** Generation ends where one of these appears. */
  readonly stopTexts?: readonly string[];
  /** 0, the default, always takes the likeliest token. Above it, tokens are drawn from the whole softmax. */
  readonly temperature?: number;
  /** For temperatures above 0. Default 0. */
  readonly seed?: number;
  /** Ends generation behind the token that is being made. */
  readonly signal?: AbortSignal;
  /** Told after every token what there is of the text so far, without what may still become a stop text. */
  readonly onText?: (text: string) => void;
}

/** What was generated, why it ended, and what it took. */
export interface Generation {
  /** Every token that was sampled, those of a stop text included, the end-of-text token not. */
  readonly tokens: readonly TokenId[];
  /** Cut before the stop text, without leading white space. */
  readonly text: string;
  readonly stop: 'end-of-text' | 'stop-text' | 'length' | 'aborted';
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

type Decoded = Pick<Generation, 'tokens' | 'text' | 'stop' | 'generatingPasses'> & { readonly firstTokenAt: number };

/**
 * Takes tokens until the end of text, a stop text, the limit, or the signal.
 * @param nextToken the first call evaluates the prompt, each later one the token before; done at the end of text
 * @returns what was generated, and when the first token came, on the clock of `performance.now()`
 */
export async function decode(
  nextToken: () => Promise<IteratorResult<TokenId, void>>,
  { maxTokens, stopTexts = [], signal, onText }: GenerationLimits,
  detokenize: (tokens: readonly TokenId[]) => string,
): Promise<Decoded> {
  const textBeforeStop = stopTextWatcher(stopTexts, detokenize);
  const tokens: TokenId[] = [];
  let next = await nextToken();
  const firstTokenAt = performance.now();
  let generatingPasses = 0;
  while (next.done !== true) {
    tokens.push(next.value);
    const text = textBeforeStop(tokens);
    if (text !== undefined) {
      return { tokens, text: text.trimStart(), stop: 'stop-text', generatingPasses, firstTokenAt };
    }
    onText?.(textThatStays(detokenize(tokens), stopTexts).trimStart());
    if (tokens.length === maxTokens || signal?.aborted === true) break;
    generatingPasses++;
    next = await nextToken();
  }
  const stop = next.done === true ? 'end-of-text' : signal?.aborted === true ? 'aborted' : 'length';
  return { tokens, text: detokenize(tokens).trimStart(), stop, generatingPasses, firstTokenAt };
}
