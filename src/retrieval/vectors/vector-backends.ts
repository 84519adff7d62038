import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { innerProduct } from '../../base/inner-product.ts';

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
export const vectorBackendNames = ['faiss-node', 'faiss-compiled', 'typescript'] as const;
export type VectorBackendName = (typeof vectorBackendNames)[number];

/** Exact search in plain TypeScript, without native code. */
export const exactBackend: VectorBackend = { name: 'typescript', version: '1', createIndex: exactIndex };

function exactIndex(): VectorIndex {
  const rows: Float32Array[] = [];
  return {
    add: (vectors) => {
      for (const vector of vectors) rows.push(vector);
    },
    search: (vector, k) => {
      const scores = rows.map((row) => innerProduct(vector, row));
      const ids = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!).slice(0, k);
      return { ids, scores: ids.map((id) => scores[id]!) };
    },
  };
}

/** The part of faiss-node's interface that is used here. */
interface FaissNode {
  IndexFlatIP: new (dimension: number) => {
    ntotal(): number;
    add(values: number[]): void;
    search(vector: number[], k: number): { distances: number[]; labels: number[] };
  };
}

const require = createRequire(import.meta.url);
// The same path from src/retrieval/vectors and from dist/retrieval/vectors.
const compiled = new URL('../../../build/faiss/', import.meta.url);

/** Loads faiss-node as installed by npm. @throws Error if it is not installed, or its binary does not load */
export function loadFaissNode(): VectorBackend {
  const { version } = require('faiss-node/package.json') as { version: string };
  return { name: 'faiss-node', version, createIndex: faissIndexes(require('faiss-node') as FaissNode) };
}

/**
 * Loads the binding to the system's FAISS that `scripts/postinstall.mjs` compiled.
 * @throws Error if it was not compiled, or does not load
 */
export function loadFaissCompiled(): VectorBackend {
  const versions = JSON.parse(readFileSync(new URL('version.json', compiled), 'utf8')) as Record<string, string>;
  const version = `${versions['faiss']} (faiss-node ${versions['faissNode']})`;
  const faiss = require(fileURLToPath(new URL('faiss-node.node', compiled))) as FaissNode;
  return { name: 'faiss-compiled', version, createIndex: faissIndexes(faiss) };
}

function faissIndexes({ IndexFlatIP }: FaissNode): VectorBackend['createIndex'] {
  return (dimension) => {
    const index = new IndexFlatIP(dimension);
    return {
      add: (vectors) => {
        // One by one: faiss-node takes plain arrays, and one for a whole index would be large.
        for (const vector of vectors) index.add(Array.from(vector));
      },
      search: (vector, k) => {
        const count = Math.min(k, index.ntotal());
        // faiss-node aborts the process for k = 0, and throws if k exceeds the number of rows.
        if (count === 0) return { ids: [], scores: [] };
        const { labels, distances } = index.search(Array.from(vector), count);
        return { ids: labels, scores: distances };
      },
    };
  };
}
