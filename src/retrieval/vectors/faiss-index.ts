import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { VectorBackend, VectorIndex, VectorSearchResult } from './vector-index.ts';

/** The part of faiss-node's interface that is used here. */
interface FaissNode {
  IndexFlatIP: new (dimension: number) => FlatIndex;
}

interface FlatIndex {
  ntotal(): number;
  add(values: number[]): void;
  search(vector: number[], k: number): { distances: number[]; labels: number[] };
}

const require = createRequire(import.meta.url);
// The same path from src/retrieval/vectors and from dist/retrieval/vectors.
const compiled = new URL('../../../build/faiss/', import.meta.url);

/** Loads faiss-node as installed by npm. @throws Error if it is not installed, or its binary does not load */
export function loadFaissNode(): VectorBackend {
  const faiss = require('faiss-node') as FaissNode;
  const { version } = require('faiss-node/package.json') as { version: string };
  return backend('faiss-node', version, faiss);
}

/** Loads the binding to the system's FAISS that `scripts/postinstall.mjs` compiled. @throws Error if it was not compiled, or does not load */
export function loadFaissCompiled(): VectorBackend {
  const about = JSON.parse(readFileSync(new URL('version.json', compiled), 'utf8')) as {
    faiss: string;
    faissNode: string;
  };
  const faiss = require(fileURLToPath(new URL('faiss-node.node', compiled))) as FaissNode;
  return backend('faiss-compiled', `${about.faiss} (faiss-node ${about.faissNode})`, faiss);
}

function backend(name: 'faiss-node' | 'faiss-compiled', version: string, faiss: FaissNode): VectorBackend {
  return { name, version, createIndex: (dimension) => new FaissIndex(new faiss.IndexFlatIP(dimension)) };
}

class FaissIndex implements VectorIndex {
  readonly #index: FlatIndex;

  constructor(index: FlatIndex) {
    this.#index = index;
  }

  get size(): number {
    return this.#index.ntotal();
  }

  add(vectors: readonly Float32Array[]): void {
    // One by one: faiss-node takes plain arrays, and that of a whole index would be large.
    for (const vector of vectors) this.#index.add(Array.from(vector));
  }

  search(vector: Float32Array, k: number): VectorSearchResult {
    const count = Math.min(k, this.size);
    // faiss-node aborts the process for 0, and throws for more than there are.
    if (count === 0) return { ids: [], scores: [] };
    const { labels, distances } = this.#index.search(Array.from(vector), count);
    return { ids: labels, scores: distances };
  }
}
