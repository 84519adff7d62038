import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as usearchModule from 'usearch';
import type { VectorBackend, VectorIndex } from './vector-index.ts';

type Usearch = typeof usearchModule;

/** Loads usearch, whose binary comes with its npm package. @throws Error if the binary does not load */
export function loadUsearch(): VectorBackend {
  const require = createRequire(import.meta.url);
  const usearch = require('usearch') as Usearch;
  // The package does not export its package.json.
  const folder = require.resolve('usearch').split(/[\\/]javascript[\\/]/)[0]!;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { name: 'usearch', version, createIndex: (dimension) => createIndex(usearch, dimension) };
}

function createIndex({ exactSearch, MetricKind }: Usearch, dimension: number): VectorIndex {
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
