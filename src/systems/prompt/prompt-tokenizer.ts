import type { PromptSegment } from '../contracts.ts';
import type { Segment } from './segments.ts';

/** What prompts need of a model's tokenizer. */
export interface SegmentTokenizer {
  /** Ids of a text with special tokens off; `first` where it opens the sequence. */
  tokenizeText(text: string, options?: { readonly first?: boolean }): readonly number[];
  /** Ids of a template's own text, with special tokens on. */
  tokenizeControl(text: string): readonly number[];
}

/** Tokenises each segment alone, so that every arm, and training, shares every token id. */
export class PromptTokenizer {
  readonly #tokenizer: SegmentTokenizer;
  readonly #bosToken: number | undefined;
  /** Of the pieces of a template, which are few and the same in every prompt. */
  readonly #templateIds = new Map<string, readonly number[]>();

  constructor(tokenizer: SegmentTokenizer, bosToken: number | undefined) {
    this.#tokenizer = tokenizer;
    this.#bosToken = bosToken;
  }

  /** Tokens of BOS, where the model asks for one: 1 or 0. */
  get bosTokens(): number {
    return this.#bosToken === undefined ? 0 : 1;
  }

  count(segment: Segment): number {
    return this.#idsOf(segment, false).length;
  }

  countAll(segments: readonly Segment[]): number {
    return segments.reduce((sum, segment) => sum + this.count(segment), 0);
  }

  /** BOS, then the segments, each with its ids. */
  tokenize(segments: readonly Segment[]): PromptSegment[] {
    const texts = segments.map((segment, index): PromptSegment => ({
      ...segment,
      tokenIds: this.#idsOf(segment, index === 0),
      origin: 'evaluated',
    }));
    if (this.#bosToken === undefined) return texts;
    return [{ role: 'bos', text: '', tokenIds: [this.#bosToken], origin: 'evaluated' }, ...texts];
  }

  #idsOf({ role, text }: Segment, first: boolean): readonly number[] {
    if (role !== 'template') return this.#tokenizer.tokenizeText(text, { first });
    const ids = this.#templateIds.get(text) ?? this.#tokenizer.tokenizeControl(text);
    this.#templateIds.set(text, ids);
    return ids;
  }
}
