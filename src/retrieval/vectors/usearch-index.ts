import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as usearchModule from 'usearch';
import { type VectorBackend, type VectorIndex, VectorRows, type VectorSearchResult } from './vector-index.ts';

type Usearch = typeof usearchModule;

/** Loads usearch, whose binary comes with its npm package. @throws Error if the binary does not load */
export function loadUsearch(): VectorBackend {
  const require = createRequire(import.meta.url);
  const usearch = require('usearch') as Usearch;
  // The package does not export its package.json.
  const folder = require.resolve('usearch').split(/[\\/]javascript[\\/]/)[0]!;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { name: 'usearch', version, createIndex: (dimension) => new UsearchIndex(usearch, dimension) };
}

class UsearchIndex implements VectorIndex {
  readonly #usearch: Usearch;
  readonly #rows: VectorRows;

  constructor(usearch: Usearch, dimension: number) {
    this.#usearch = usearch;
    this.#rows = new VectorRows(dimension);
  }

  get size(): number {
    return this.#rows.length;
  }

  add(vectors: readonly Float32Array[]): void {
    this.#rows.append(vectors);
  }

  search(vector: Float32Array, k: number): VectorSearchResult {
    const count = Math.min(k, this.size);
    // usearch refuses 0.
    if (count === 0) return { ids: [], scores: [] };
    const { exactSearch, MetricKind } = this.#usearch;
    // One thread, because its time is reported and the other cores belong to the language model.
    const { keys, distances } = exactSearch(this.#rows.values(), vector, vector.length, count, MetricKind.IP, 1);
    return { ids: Array.from(keys, Number), scores: Array.from(distances, (distance) => 1 - distance) };
  }
}
