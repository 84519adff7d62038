import type { Generation, GenerationLimits } from './engine-session.ts';
import type { TokenId, TokenIds } from './token-id.ts';
import { type GeneratedText, generatedText, SPLIT_CHARACTER, stableText } from './generated-text.ts';

function tokensOfThought(thought: string, tokens: TokenIds, detokenize: (tokens: TokenIds) => string): number {
  if (thought === '') return 0;
  const count = tokens.findIndex(
    (_, index) => detokenize(tokens.slice(0, index + 1)).replace(SPLIT_CHARACTER, '').length >= thought.length,
  );
  return count === -1 ? tokens.length : count + 1;
}

type Decoded = Pick<Generation, 'tokens' | 'text' | 'thoughtTokens' | 'stop'> & { readonly firstTokenAt: number };

/**
 * Requests tokens one by one until an end token, a stop text, the end of a sentence, the token limit, or an abort.
 * @param nextToken the first call evaluates the prompt, each later call the previous token; done at an end token
 * @returns the tokens, the answer, and the time of the first token on the clock of `performance.now()`
 */
export async function decodeTokens(
  nextToken: () => Promise<IteratorResult<TokenId, void>>,
  limits: GenerationLimits,
  detokenize: (tokens: TokenIds) => string,
  signal: AbortSignal | undefined,
): Promise<Decoded> {
  const { maxTokens, onToken } = limits;
  const mayEnd = limits.oneSentence === true || (limits.stopTexts ?? []).length > 0;
  const tokens: TokenId[] = [];
  let next = await nextToken();
  const firstTokenAt = performance.now();
  const decoded = (stop: Decoded['stop'], read = generatedText(detokenize(tokens), limits, true)): Decoded => {
    const { text, thought } = read;
    return { tokens, text, stop, firstTokenAt, thoughtTokens: tokensOfThought(thought, tokens, detokenize) };
  };
  /** The text so far if a stop text or the end of a sentence has ended it. */
  const endedText = (id: TokenId): (GeneratedText & { readonly end: Decoded['stop'] }) | undefined => {
    if (!mayEnd && onToken === undefined) return undefined;
    const soFar = detokenize(tokens);
    const read = mayEnd ? generatedText(soFar, limits, false) : undefined;
    const ended = read?.end === undefined ? undefined : { ...read, end: read.end };
    onToken?.(id, ended?.text ?? stableText(soFar, limits));
    return ended;
  };
  if (next.done === true) onToken?.(null, '');
  while (next.done !== true) {
    tokens.push(next.value);
    const ended = endedText(next.value);
    if (ended !== undefined) return decoded(ended.end, ended);
    if (signal?.aborted === true) return decoded('aborted');
    if (tokens.length === maxTokens) return decoded('length');
    next = await nextToken();
  }
  return decoded('end');
}
