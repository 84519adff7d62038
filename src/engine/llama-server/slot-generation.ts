import type { CallOptions, Generation, GenerationLimits, Retry } from '../engine-session.ts';
import { decodeTokens } from '../generated-text.ts';
import { StreamedText } from '../http/streamed-text.ts';
import { type TokenId, UNKNOWN_TOKEN } from '../token-id.ts';
import type { Chunk } from './server-shapes.ts';
import type { Finished, Slot } from './slot.ts';

/**
 * Generates behind ids in a slot. llama-server sends no id of a token that leaves a character unfinished: those are asked for
 * again, behind all clocks, and stay unknown where the second answer is another one.
 * @param held ids that the slot holds
 * @param start of the call, on the clock of `performance.now()`
 */
export async function generateIn(
  slot: Slot,
  ids: readonly TokenId[],
  held: number,
  limits: GenerationLimits,
  { signal, start }: CallOptions & { readonly start: number },
): Promise<Generation> {
  const { maxTokens, temperature = 0, seed = 0 } = limits;
  const asked = { n_predict: maxTokens, temperature, seed };
  const retries: Retry[] = [];
  const events = slot.generate(ids, held, asked, { signal, onRetry: (retry) => retries.push(retry) });
  const stream = new TokenStream(events);
  try {
    const { firstTokenAt, ...decoded } = await decodeTokens(
      () => stream.next(),
      limits,
      (tokens) => stream.text.of(tokens),
      signal,
    );
    const decodeMs = performance.now() - firstTokenAt;
    if (decoded.stop === 'length') await stream.finish();
    await events.return();
    const tokens = decoded.tokens.includes(UNKNOWN_TOKEN)
      ? completed(decoded.tokens, await slot.again(ids, { ...asked, n_predict: decoded.tokens.length }, {}))
      : decoded.tokens;
    return { ...decoded, tokens, firstTokenMs: firstTokenAt - start, decodeMs, retries };
  } finally {
    await events.return();
  }
}

/** Known ids must be those of the second answer. */
function completed(tokens: readonly TokenId[], again: readonly TokenId[]): readonly TokenId[] {
  const agree = tokens.every((id, index) => id === UNKNOWN_TOKEN || id === again[index]);
  return agree && again.length >= tokens.length ? again.slice(0, tokens.length) : tokens;
}

/** Tokens one by one out of the events of a completion. */
class TokenStream {
  readonly text = new StreamedText();
  readonly #events: AsyncGenerator<Chunk | Finished, void>;
  readonly #waiting: { readonly id: TokenId; readonly content: string }[] = [];
  #finished: Finished | undefined;

  constructor(events: AsyncGenerator<Chunk | Finished, void>) {
    this.#events = events;
  }

  async next(): Promise<IteratorResult<TokenId, void>> {
    // Only a token without text can be an end token, of which the server tells in its last event.
    while (this.#finished === undefined && !this.#waiting.some(({ content }) => content !== '')) await this.#read();
    const token = this.#waiting.shift();
    if (token === undefined) return { done: true, value: undefined };
    this.text.add(token.id, token.content);
    return { done: false, value: token.id };
  }

  /** Reads up to the last event. */
  async finish(): Promise<void> {
    while (this.#finished === undefined) await this.#read();
  }

  async #read(): Promise<void> {
    const { value, done } = await this.#events.next();
    if (done === true) return;
    if ('stopType' in value) {
      this.#finished = value;
      this.#addUnknown(value.timings.predicted_n ?? 0);
      if (value.stopType === 'eos') this.#waiting.pop();
      return;
    }
    this.#addUnknown((value.tokens_predicted ?? 0) - 1);
    for (const id of value.tokens ?? []) this.#waiting.push({ id, content: value.content ?? '' });
  }

  /** Tokens that the server counted and did not send. */
  #addUnknown(predicted: number): void {
    while (this.text.count + this.#waiting.length < predicted) this.#waiting.push({ id: UNKNOWN_TOKEN, content: '' });
  }
}
