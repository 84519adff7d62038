import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import { BenchError } from '../../base/bench-error.ts';
import { norm } from '../../base/inner-product.ts';
import type { Embedder, EmbedderInfo, TextPurpose } from './embedder.ts';

/** Requests to the service and their cost, since it was created. */
export interface EmbeddingStats {
  readonly texts: number;
  /** Texts that needed no call of the model: cached, blank, or repeated in one batch. */
  readonly cacheHits: number;
  readonly cachedTexts: number;
  /** Time spent in the model, without loading it. */
  readonly callMs: number;
}

/** Settings of an `EmbeddingService`. */
export interface EmbeddingServiceOptions {
  /** Maximum number of cached vectors; the least recently used are dropped. Default 20,000. */
  readonly maxCachedTexts?: number;
}

/**
 * Embeds texts as unit vectors, so that an inner product is a cosine. Vectors are cached by the hash of the text, and the
 * model is loaded at first use. A text without content (empty, or white space only) has the zero vector and is similar to
 * nothing; embedded by a model, it would be similar to any short text.
 *
 * @example
 * ```ts
 * import { EmbeddingService, TransformersEmbedder } from 'dki-bench';
 *
 * const embeddings = new EmbeddingService(() => TransformersEmbedder.open('models/embed-en-zh'));
 * const [memory, query] = [
 *   await embeddings.embed('I moved to Leeds in May.'),
 *   await embeddings.embed('Where do I live?', 'query'),
 * ];
 * console.log(memory.reduce((sum, value, i) => sum + value * query[i]!, 0)); // their cosine
 * ```
 */
export class EmbeddingService {
  readonly #open: () => Promise<Embedder>;
  readonly #cache: LRUCache<string, Float32Array>;
  #embedder: Promise<Embedder> | undefined;
  #texts = 0;
  #cacheHits = 0;
  #callMs = 0;

  constructor(open: () => Promise<Embedder>, { maxCachedTexts = 20_000 }: EmbeddingServiceOptions = {}) {
    this.#open = open;
    this.#cache = new LRUCache({ max: maxCachedTexts });
  }

  /** Embeds one text: a question as `query`, a memory as `document`. @returns a copy of the unit vector */
  async embed(text: string, purpose: TextPurpose = 'document'): Promise<Float32Array> {
    const [vector] = await this.embedMany([text], purpose);
    return vector!;
  }

  /**
   * Embeds texts; equal texts are embedded once.
   * @returns unit vectors in the order of the texts, as copies
   * @throws BenchError `bad-model` if the model cannot be loaded or gives numbers that are not finite
   */
  async embedMany(texts: readonly string[], purpose: TextPurpose = 'document'): Promise<Float32Array[]> {
    const embedder = await this.#loaded();
    const { info } = embedder;
    const prompted = texts.map((text) => info.prompts[purpose] + text);
    const keys = prompted.map((text) => createHash('sha256').update(text).digest('base64'));
    const vectors = new Map<string, Float32Array>();
    const missing = new Map<string, string>();
    for (const [i, key] of keys.entries()) {
      const text = texts[i]!;
      const known = text.trim() === '' ? new Float32Array(info.dimension) : this.#cache.get(key);
      if (known === undefined) missing.set(key, prompted[i]!);
      else vectors.set(key, known);
    }
    const start = performance.now();
    const made = missing.size === 0 ? [] : await embedder.embed([...missing.values()]);
    this.#callMs += performance.now() - start;
    this.#texts += texts.length;
    this.#cacheHits += texts.length - missing.size;
    const refusal = (fault: string): BenchError => {
      const hint = 'export the model again, or choose another with --embedder';
      return new BenchError('bad-model', `embedding model ${info.path} gave ${fault}`, hint);
    };
    for (const [i, key] of [...missing.keys()].entries()) {
      vectors.set(key, unitVector(made[i]!, info.dimension, refusal));
    }
    for (const [key, vector] of vectors) this.#cache.set(key, vector);
    return keys.map((key) => vectors.get(key)!.slice());
  }

  /** Length of a vector; loads the model. */
  async dimension(): Promise<number> {
    return (await this.#loaded()).info.dimension;
  }

  /** Identity of the model; loads it. */
  async info(): Promise<EmbedderInfo> {
    return (await this.#loaded()).info;
  }

  /** Counts since the service was created. */
  stats(): EmbeddingStats {
    return { texts: this.#texts, cacheHits: this.#cacheHits, cachedTexts: this.#cache.size, callMs: this.#callMs };
  }

  /** Empties the cache, so that the next measurement does not profit from earlier ones. */
  clear(): void {
    this.#cache.clear();
  }

  async #loaded(): Promise<Embedder> {
    this.#embedder ??= this.#open();
    try {
      return await this.#embedder;
    } catch (error) {
      // The next call tries again, since the folder may have been repaired.
      this.#embedder = undefined;
      throw error;
    }
  }
}

/** Scales a vector to length 1; a zero vector (a text without content) stays zero: it is similar to nothing. */
export function unitVector(vector: Float32Array, dimension: number, refusal: (fault: string) => BenchError) {
  if (vector.length !== dimension) throw refusal(`${vector.length} numbers instead of ${dimension}`);
  const length = norm(vector);
  if (!Number.isFinite(length)) throw refusal('numbers that are not all finite');
  return length === 0 ? vector : vector.map((value) => value / length);
}
