import type { TextPurpose } from './sentence-layout.ts';

/** Which model makes the vectors; recorded with every run. */
export interface EmbedderInfo {
  /** Name of the model's folder. */
  readonly name: string;
  /** Numbers a vector. */
  readonly dimension: number;
  /** Of the file that holds the weights. */
  readonly sha256: string;
  /** The file that holds the weights. */
  readonly path: string;
  /** What stands in front of every text of that purpose, by the model's own files; often nothing. */
  readonly prompts: Readonly<Record<TextPurpose, string>>;
}

/** A model that turns texts into vectors whose direction says what they mean. */
export interface Embedder {
  readonly info: EmbedderInfo;
  /**
   * Takes texts as they are: whoever calls puts the prompts in front.
   * One vector of `info.dimension` finite numbers a text, in the order of the texts; of any length, not normalised.
   * A vector depends on its own text only, never on the others of the call. A text without a single token gives
   * the zero vector.
   */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}
