import type { Generation, GenerationLimits } from './generation.ts';
import { endWatcher, type GeneratedText, generatedText, textThatStays, tokensOfThought } from './generated-text.ts';
import type { TokenId } from './token-id.ts';

type Decoded = Pick<Generation, 'tokens' | 'text' | 'thoughtTokens' | 'stop'> & { readonly firstTokenAt: number };

/**
 * Takes tokens until an end token, a stop text, the end of a sentence, the limit, or the signal.
 * @param nextToken the first call evaluates the prompt, each later one the token before; done at an end token
 * @returns the tokens, and when the first came, on the clock of `performance.now()`
 */
export async function decodeTokens(
  nextToken: () => Promise<IteratorResult<TokenId, void>>,
  limits: GenerationLimits,
  detokenize: (tokens: readonly TokenId[]) => string,
  signal: AbortSignal | undefined,
): Promise<Decoded> {
  const { maxTokens, onToken } = limits;
  const endOf = endWatcher(limits, detokenize);
  const tokens: TokenId[] = [];
  let next = await nextToken();
  const firstTokenAt = performance.now();
  const decoded = ({ text, thought }: GeneratedText, stop: Decoded['stop']): Decoded => ({
    ...{ tokens, text, stop, firstTokenAt },
    thoughtTokens: tokensOfThought(thought, tokens, detokenize),
  });
  if (next.done === true) onToken?.(null, '');
  while (next.done !== true) {
    tokens.push(next.value);
    const ended = endOf(tokens);
    if (ended?.end !== undefined) {
      onToken?.(next.value, ended.text);
      return decoded(ended, ended.end);
    }
    onToken?.(next.value, textThatStays(detokenize(tokens), limits));
    if (tokens.length === maxTokens || signal?.aborted === true) break;
    next = await nextToken();
  }
  const stop = next.done === true ? 'end' : signal?.aborted === true ? 'aborted' : 'length';
  return decoded(generatedText(detokenize(tokens), limits, true), stop);
}
