import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { VectorBackend } from './vector-index.ts';

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
  return { name: 'faiss-node', version, createIndex: indexes(require('faiss-node') as FaissNode) };
}

/**
 * Loads the binding to the system's FAISS that `scripts/postinstall.mjs` compiled.
 * @throws Error if it was not compiled, or does not load
 */
export function loadFaissCompiled(): VectorBackend {
  const versions = JSON.parse(readFileSync(new URL('version.json', compiled), 'utf8')) as Record<string, string>;
  const version = `${versions['faiss']} (faiss-node ${versions['faissNode']})`;
  const faiss = require(fileURLToPath(new URL('faiss-node.node', compiled))) as FaissNode;
  return { name: 'faiss-compiled', version, createIndex: indexes(faiss) };
}

function indexes({ IndexFlatIP }: FaissNode): VectorBackend['createIndex'] {
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
