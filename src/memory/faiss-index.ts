import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { VectorBackend, VectorIndex, VectorSearchResult } from './vector-index.ts';

/** What we use of faiss-node's interface. */
interface FaissNode {
  IndexFlatIP: new (dimension: number) => FlatIndex;
}

interface FlatIndex {
  ntotal(): number;
  add(values: number[]): void;
  search(vector: number[], k: number): { distances: number[]; labels: number[] };
}

const require = createRequire(import.meta.url);
// From src/memory and from dist/memory alike.
const compiled = new URL('../../build/faiss/', import.meta.url);

/** FAISS by faiss-node as npm installed it. @throws where it was not installed, or its binary does not fit */
export function loadFaissNode(): VectorBackend {
  const faiss = require('faiss-node') as FaissNode;
  const { version } = require('faiss-node/package.json') as { version: string };
  return backend('faiss-node', version, faiss);
}

/** The system's FAISS by what `scripts/postinstall.mjs` compiled. @throws where it did not, or the binary does not fit */
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
    // One at a time: it takes plain arrays only, and one of a whole index would be large.
    for (const vector of vectors) this.#index.add(Array.from(vector));
  }

  search(vector: Float32Array, k: number): VectorSearchResult {
    const count = Math.min(k, this.size);
    // Zero aborts the process, more than there is throws.
    if (count === 0) return { ids: [], scores: [] };
    const { labels, distances } = this.#index.search(Array.from(vector), count);
    return { ids: labels, scores: distances };
  }
}
