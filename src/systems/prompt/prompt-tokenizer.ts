import type { Engine, TokenizeRequest } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { PromptSegment } from '../../store/records/prompt-info.ts';
import type { Segment } from './prompt-form.ts';

export type TokenizingEngine = Pick<Engine, 'tokenize'> & { readonly info: Pick<Engine['info'], 'bosToken'> };

/** Tokenises each segment alone, so that a segment has the same token ids in all arms. Batches requests: see `settle`. */
export class PromptTokenizer {
  readonly #engine: TokenizingEngine;
  readonly #ids = new Map<string, readonly TokenId[]>();
  #missing = new Map<string, TokenizeRequest>();

  constructor(engine: TokenizingEngine) {
    this.#engine = engine;
  }

  /** Repeats `compute`, in which unknown segments count as empty, tokenising these in a batch until none is unknown. */
  async settle<T>(compute: () => T): Promise<T> {
    for (;;) {
      const result = compute();
      if (this.#missing.size === 0) return result;
      const batch = [...this.#missing];
      this.#missing = new Map();
      const ids = await this.#engine.tokenize(batch.map(([, request]) => request));
      batch.forEach(([key], index) => this.#ids.set(key, ids[index]!));
    }
  }

  /** True if the segment is already tokenised. */
  knows(segment: Segment): boolean {
    return this.#ids.has(keyOf(requestOf(segment, false)));
  }

  /** Inside `settle` only. */
  count(segment: Segment): number {
    return this.#idsOf(segment, false).length;
  }

  /** Inside `settle` only. */
  countAll(segments: readonly Segment[]): number {
    return segments.reduce((sum, segment) => sum + this.count(segment), 0);
  }

  /** BOS, then the segments, each with its ids. Inside `settle` only. */
  tokenize(segments: readonly Segment[]): PromptSegment[] {
    const texts = segments.map((segment, index): PromptSegment => ({
      ...segment,
      tokenIds: this.#idsOf(segment, index === 0),
      origin: 'evaluated',
    }));
    const { bosToken } = this.#engine.info;
    if (bosToken === null) return texts;
    return [{ role: 'bos', text: '', tokenIds: [bosToken], origin: 'evaluated' }, ...texts];
  }

  #idsOf(segment: Segment, first: boolean): readonly TokenId[] {
    const request = requestOf(segment, first);
    const key = keyOf(request);
    const known = this.#ids.get(key);
    if (known === undefined) this.#missing.set(key, request);
    return known ?? [];
  }
}

function requestOf({ role, text }: Segment, first: boolean): TokenizeRequest {
  return { text, as: role === 'template' ? 'template' : 'text', first };
}

function keyOf({ as, first, text }: TokenizeRequest): string {
  return `${as} ${first} ${text}`;
}
