/** Exact inner-product index. Rows are numbered from 0 in the order of insertion, and cannot be removed. */
export interface VectorIndex {
  /** Appends rows; each has the dimension of the index. */
  add(vectors: readonly Float32Array[]): void;
  /** Returns at most `k` rows, those with the largest inner products, best first; equal ones in any order. */
  search(vector: Float32Array, k: number): { readonly ids: readonly number[]; readonly scores: readonly number[] };
}

/** A vector search library. Its name and version are recorded with every run, since retrieval times depend on them. */
export interface VectorBackend {
  readonly name: VectorBackendName;
  readonly version: string;
  createIndex(dimension: number): VectorIndex;
}

/** In order of preference. */
export const vectorBackendNames = ['faiss-node', 'faiss-compiled', 'usearch', 'typescript'] as const;
export type VectorBackendName = (typeof vectorBackendNames)[number];
