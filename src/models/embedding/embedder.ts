/** Purpose of an embedded text: many models have different prompts for queries and documents. */
export type TextPurpose = 'query' | 'document';

/** Identity of an embedding model; recorded with every run. */
export interface EmbedderInfo {
  readonly name: string;
  /** Length of a vector. */
  readonly dimension: number;
  /** Hash of the file that holds the weights. */
  readonly sha256: string;
  readonly path: string;
  /** Name and version of the runtime that evaluates the weights; the last bits of a vector depend on it. */
  readonly runtime: string;
  /** Prefixes of texts by purpose, from the model's own files; often empty. */
  readonly prompts: Readonly<Record<TextPurpose, string>>;
}

/** Port to an embedding model: texts in, vectors of meaningful direction out. Adapter: `TransformersEmbedder`. */
export interface Embedder {
  readonly info: EmbedderInfo;
  /**
   * Embeds texts as they are: the caller adds `info.prompts`.
   * @returns one vector of `info.dimension` finite numbers for each text, in order, not normalised. A vector depends on its
   * own text only, never on the others of the call. A text without tokens gives the zero vector.
   */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}
