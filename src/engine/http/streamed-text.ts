import type { TokenId } from '../token-id.ts';

/** The text of tokens as a server streams them: it sends the text of each, and holds back characters that are not whole. */
export class StreamedText {
  readonly #ids: TokenId[] = [];
  /** Length of the text behind each token. */
  readonly #ends: number[] = [];
  #text = '';

  get count(): number {
    return this.#ids.length;
  }

  add(id: TokenId, content: string): void {
    this.#ids.push(id);
    this.#text += content;
    this.#ends.push(this.#text.length);
  }

  /** Text that was held back, of the last token. */
  extend(content: string): void {
    this.#text += content;
    if (this.count > 0) this.#ends[this.count - 1] = this.#text.length;
  }

  /** The text of the first, or of the last, of the tokens. */
  of(ids: readonly TokenId[]): string {
    if (ids.length === 0) return '';
    if (ids.every((id, index) => id === this.#ids[index])) return this.#text.slice(0, this.#ends[ids.length - 1]);
    return this.#text.slice(this.#ends[this.count - ids.length - 1] ?? 0, this.#ends.at(-1));
  }
}
