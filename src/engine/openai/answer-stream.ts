import { StreamedText } from '../http/streamed-text.ts';
import { type TokenId, UNKNOWN_TOKEN } from '../token-id.ts';
import type { Choice, Completion } from './v1-shapes.ts';

/** How an answer ended, and what its server says of it. */
export interface AnswerEnd extends Pick<Completion, 'usage' | 'timings'> {
  readonly isWhole: boolean;
}

/** Tokens one by one out of the events of an answer. Ids that the server does not tell are unknown. */
export class AnswerStream {
  readonly text = new StreamedText();
  readonly #events: AsyncGenerator<Completion, void>;
  readonly #ends: readonly TokenId[];
  readonly #waiting: { readonly id: TokenId; readonly content: string }[] = [];
  #usage: Completion['usage'];
  #timings: Completion['timings'];
  #reason: Choice['finish_reason'];
  #stopText = false;
  #isOver = false;
  #tellsIds = false;

  /** @param ends tokens at which the server ends an answer */
  constructor(events: AsyncGenerator<Completion, void>, ends: readonly TokenId[]) {
    this.#events = events;
    this.#ends = ends;
  }

  /** The text that the server has sent so far. */
  get end(): AnswerEnd {
    return { usage: this.#usage, timings: this.#timings, isWhole: this.#isOver && this.#reason !== undefined };
  }

  /** The server told an id so far. */
  get tellsIds(): boolean {
    return this.#tellsIds;
  }

  async next(): Promise<IteratorResult<TokenId, void>> {
    // Only a token without text can be an end token, of which the server tells later.
    while (!this.#isOver && !this.#waiting.some(({ content }) => content !== '')) await this.#read();
    const token = this.#waiting.shift();
    if (token === undefined) return { done: true, value: undefined };
    this.text.add(token.id, token.content);
    return { done: false, value: token.id };
  }

  /** Reads up to the end. */
  async finish(): Promise<void> {
    while (!this.#isOver) await this.#read();
  }

  async #read(): Promise<void> {
    const { value, done } = await this.#events.next();
    if (done === true) {
      this.#finishTokens();
      return;
    }
    this.#usage = value.usage ?? this.#usage;
    this.#timings = value.timings ?? this.#timings;
    const [choice] = value.choices;
    if (choice === undefined) return;
    this.#add(choice, value.timings?.predicted_n);
    if (choice.finish_reason === null || choice.finish_reason === undefined) return;
    this.#reason = choice.finish_reason;
    this.#stopText = typeof (choice.stop_reason ?? choice.matched_stop) === 'string';
  }

  /** @param predicted tokens so far, where the server says so: more than it told are unknown, and stand before these */
  #add({ text, token_ids: told, logprobs }: Choice, predicted = 0): void {
    const known = told ?? logprobs?.content?.map(({ id }) => id);
    this.#tellsIds ||= (known ?? []).length > 0;
    const ids = known ?? (text === '' ? [] : [UNKNOWN_TOKEN]);
    this.#pad(predicted - ids.length);
    if (ids.length === 0 && text !== '') this.#extend(text);
    // The text of several tokens is that of the last of them that has any.
    const last = Math.max(
      ids.findLastIndex((id) => !this.#ends.includes(id)),
      0,
    );
    ids.forEach((id, index) => this.#waiting.push({ id, content: index === last ? text : '' }));
  }

  /** Tokens that the server counted and did not tell, and without the end token. */
  #finishTokens(): void {
    this.#isOver = true;
    this.#pad(this.#usage?.completion_tokens ?? 0);
    if (this.#reason === 'stop' && !this.#stopText && this.#waiting.at(-1)?.content === '') this.#waiting.pop();
  }

  /** Text that was held back, of the last token. */
  #extend(text: string): void {
    const last = this.#waiting.pop();
    if (last === undefined) this.text.extend(text);
    else this.#waiting.push({ ...last, content: last.content + text });
  }

  /** Adds unknown tokens up to a count of all. */
  #pad(count: number): void {
    while (this.text.count + this.#waiting.length < count) this.#waiting.push({ id: UNKNOWN_TOKEN, content: '' });
  }
}
