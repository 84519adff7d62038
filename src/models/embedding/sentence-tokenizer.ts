import { Tokenizer } from '@huggingface/tokenizers';

/** Document of a `tokenizer.json`, as far as it is looked into. */
interface TokenizerDocument {
  readonly added_tokens?: readonly { readonly special?: boolean }[];
}

/** The part of a tokenizer that is used: its own declarations cannot be resolved from an ES module. */
interface Encodes {
  encode(text: string, options?: { readonly add_special_tokens: boolean }): { readonly ids: number[] };
}

const open = Tokenizer as new (document: object, config: object) => Encodes;

/** Token ids of one text, with the special tokens that the encoder wants around it. */
export class SentenceTokenizer {
  readonly #text: Encodes;
  readonly #before: readonly number[];
  readonly #after: readonly number[];
  readonly #most: number;

  /**
   * @param document `tokenizer.json`
   * @param config `tokenizer_config.json`
   * @param maxTokens longest sequence, special tokens included
   */
  constructor(
    document: Readonly<Record<string, unknown>>,
    config: Readonly<Record<string, unknown>>,
    maxTokens: number,
  ) {
    const { added_tokens: added = [] } = document as TokenizerDocument;
    // A text that spells a special token holds those characters, not that token.
    this.#text = new open({ ...document, added_tokens: added.filter(({ special }) => special !== true) }, config);
    const framed = new open(document, config);
    const bare = framed.encode(PROBE, { add_special_tokens: false }).ids;
    const whole = framed.encode(PROBE).ids;
    const start = Math.max(
      0,
      whole.findIndex((_, at) => bare.every((id, place) => whole[at + place] === id)),
    );
    this.#before = whole.slice(0, start);
    this.#after = whole.slice(start + bare.length);
    this.#most = maxTokens - this.#before.length - this.#after.length;
  }

  /** Encodes a text; what is over the limit is cut off its end, and special tokens stay. */
  encode(text: string): number[] {
    const { ids } = this.#text.encode(text, { add_special_tokens: false });
    return [...this.#before, ...ids.slice(0, this.#most), ...this.#after];
  }
}

const PROBE = 'a';
