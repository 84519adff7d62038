import type { Generation, GenerationLimits } from './generation.ts';
import { stopTextWatcher, textThatStays } from './stop-texts.ts';
import type { TokenId } from './token-id.ts';

type Decoded = Pick<Generation, 'tokens' | 'text' | 'stop'> & { readonly firstTokenAt: number };

/**
 * Takes tokens until an end token, a stop text, the limit, or the signal.
 * @param nextToken the first call evaluates the prompt, each later one the token before; done at an end token
 * @returns the tokens, and when the first came, on the clock of `performance.now()`
 */
export async function decodeTokens(
  nextToken: () => Promise<IteratorResult<TokenId, void>>,
  { maxTokens, stopTexts = [], onToken }: GenerationLimits,
  detokenize: (tokens: readonly TokenId[]) => string,
  signal: AbortSignal | undefined,
): Promise<Decoded> {
  const textBeforeStop = stopTextWatcher(stopTexts, detokenize);
  const tokens: TokenId[] = [];
  let next = await nextToken();
  const firstTokenAt = performance.now();
  if (next.done === true) onToken?.(null, '');
  while (next.done !== true) {
    tokens.push(next.value);
    const text = textBeforeStop(tokens)?.trimStart();
    if (text !== undefined) {
      onToken?.(next.value, text);
      return { tokens, text, stop: 'stop-text', firstTokenAt };
    }
    onToken?.(next.value, textThatStays(detokenize(tokens), stopTexts).trimStart());
    if (tokens.length === maxTokens || signal?.aborted === true) break;
    next = await nextToken();
  }
  const stop = next.done === true ? 'end' : signal?.aborted === true ? 'aborted' : 'length';
  return { tokens, text: detokenize(tokens).trimStart(), stop, firstTokenAt };
}
