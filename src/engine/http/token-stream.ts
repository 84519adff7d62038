import type { GenerateOptions } from '../base-session.ts';
import type { GenerationLimits } from '../engine-session.ts';
import { decodeTokens } from '../generated-text.ts';
import type { ServerErrors } from './server-errors.ts';
import { type TokenId, type TokenIds, UNKNOWN_TOKEN } from '../token-id.ts';

/** Limit on the tokens of an answer, and the errors for one that exceeds it. */
export interface AnswerBounds {
  readonly maxTokens: number;
  readonly errors: Pick<ServerErrors, 'protocol'>;
}

/** Splits the events of a streamed answer into tokens. Ids that the server does not send are `UNKNOWN_TOKEN`. */
export abstract class TokenStream<Event> {
  protected readonly waiting: { readonly id: TokenId; readonly content: string }[] = [];
  protected isOver = false;
  readonly #events: AsyncGenerator<Event, void>;
  readonly #bounds: AnswerBounds;
  /** Length of the text after each token. */
  readonly #ends: number[] = [];
  #text = '';

  constructor(events: AsyncGenerator<Event, void>, bounds: AnswerBounds) {
    this.#events = events;
    this.#bounds = bounds;
  }

  /** Adds the tokens of an event, and sets `isOver` after the last one. */
  protected abstract read(event: Event): void;
  protected abstract end(): void;

  async next(): Promise<IteratorResult<TokenId, void>> {
    // A token without text may be the end token, which only the last event tells; wait until it is known.
    while (!this.isOver && !this.waiting.some(({ content }) => content !== '')) await this.#readEvent();
    const token = this.waiting.shift();
    if (token === undefined) return { done: true, value: undefined };
    this.#text += token.content;
    this.#ends.push(this.#text.length);
    return { done: false, value: token.id };
  }

  /** Reads as many tokens as the limits allow. */
  decode(limits: GenerationLimits, options: GenerateOptions): ReturnType<typeof decodeTokens> {
    return decodeTokens(
      () => this.next(),
      limits,
      (tokens) => this.detokenize(tokens),
      options,
    );
  }

  async finish(): Promise<void> {
    while (!this.isOver) await this.#readEvent();
  }

  /** Text of the first tokens, as sent by the server, which holds back incomplete characters. @param tokens only their number counts */
  detokenize({ length }: TokenIds): string {
    return this.#text.slice(0, this.#ends[length - 1] ?? 0);
  }

  /** Appends held-back text to the last token. */
  protected extend(text: string): void {
    const last = this.waiting.pop();
    if (last !== undefined) {
      this.waiting.push({ ...last, content: last.content + text });
      return;
    }
    this.#text += text;
    if (this.#ends.length > 0) this.#ends[this.#ends.length - 1] = this.#text.length;
  }

  /** Adds unknown tokens until the answer has `count` tokens. */
  protected pad(count: number): void {
    this.#requireWithin(count);
    while (this.#count < count) this.waiting.push({ id: UNKNOWN_TOKEN, content: '' });
  }

  async #readEvent(): Promise<void> {
    const { value, done } = await this.#events.next();
    if (done === true) this.end();
    else this.read(value);
    this.#requireWithin(this.#count);
  }

  get #count(): number {
    return this.#ends.length + this.waiting.length;
  }

  #requireWithin(count: number): void {
    const { maxTokens, errors } = this.#bounds;
    if (count > maxTokens)
      throw errors.protocol(`answers with ${count} tokens, more than the requested limit of ${maxTokens}`);
  }
}

/** Fills in unknown ids from a second answer, if all known ids are the same in both. */
export function fillUnknown(known: TokenIds, again: TokenIds): TokenIds {
  const agree = known.every((id, index) => id === UNKNOWN_TOKEN || id === again[index]);
  return agree && again.length >= known.length ? again.slice(0, known.length) : known;
}
