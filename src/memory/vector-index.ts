/** Rows and their inner products with a query, the best first. */
export interface VectorSearchResult {
  readonly ids: readonly number[];
  readonly scores: readonly number[];
}

/**
 * An exact inner-product index. Rows are numbered from 0 in the order in which they were added, and never removed;
 * its memory is freed with the object.
 */
export interface VectorIndex {
  /** Number of rows. */
  readonly size: number;
  /** Appends rows; each has the dimension of the index. */
  add(vectors: readonly Float32Array[]): void;
  /** The `k` best rows, fewer where there are fewer, none for `k` = 0. Rows of one score come in any order. */
  search(vector: Float32Array, k: number): VectorSearchResult;
}

/** A library that searches vectors; recorded with every run, since its speed is in every number of recall. */
export interface VectorBackend {
  readonly name: VectorBackendName;
  readonly version: string;
  createIndex(dimension: number): VectorIndex;
}

/** In order of preference. */
export const vectorBackendNames = ['faiss-node', 'faiss-compiled', 'usearch', 'typescript'] as const;
export type VectorBackendName = (typeof vectorBackendNames)[number];
