import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as usearchModule from 'usearch';
import type { VectorBackend, VectorIndex } from './vector-index.ts';

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

/** Sums with four accumulators, which the processor adds in parallel: twice as fast as one, with less rounding. */
function innerProduct(vector: Float32Array, row: Float32Array): number {
  const whole = vector.length - (vector.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < whole; i += 4) {
    a += vector[i]! * row[i]!;
    b += vector[i + 1]! * row[i + 1]!;
    c += vector[i + 2]! * row[i + 2]!;
    d += vector[i + 3]! * row[i + 3]!;
  }
  for (let i = whole; i < vector.length; i++) a += vector[i]! * row[i]!;
  return a + b + (c + d);
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

/** Loads usearch, whose binary comes with its npm package. @throws Error if the binary does not load */
export function loadUsearch(): VectorBackend {
  const usearch = require('usearch') as typeof usearchModule;
  // The package does not export its package.json.
  const folder = require.resolve('usearch').split(/[\\/]javascript[\\/]/)[0]!;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { name: 'usearch', version, createIndex: (dimension) => usearchIndex(usearch, dimension) };
}

function usearchIndex({ exactSearch, MetricKind }: typeof usearchModule, dimension: number): VectorIndex {
  /** All rows in one array, which doubles when it is full. */
  let values = new Float32Array(dimension * 16);
  let size = 0;
  return {
    add: (vectors) => {
      const needed = (size + vectors.length) * dimension;
      if (needed > values.length) {
        const grown = new Float32Array(Math.max(needed, values.length * 2));
        grown.set(values);
        values = grown;
      }
      for (const vector of vectors) values.set(vector, size++ * dimension);
    },
    search: (vector, k) => {
      const count = Math.min(k, size);
      // usearch refuses k = 0.
      if (count === 0) return { ids: [], scores: [] };
      // One thread, because its time is reported and the other cores belong to the language model.
      const rows = values.subarray(0, size * dimension);
      const { keys, distances } = exactSearch(rows, vector, dimension, count, MetricKind.IP, 1);
      return { ids: Array.from(keys, Number), scores: Array.from(distances, (distance) => 1 - distance) };
    },
  };
}
