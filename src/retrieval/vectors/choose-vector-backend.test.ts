import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, test, vi } from 'vitest';
import { chooseVectorBackend } from './choose-vector-backend.ts';
import { vectorBackendNames, type VectorBackend } from './vector-backends.ts';

const available: VectorBackend[] = [];
const absent: string[] = [];
for (const name of vectorBackendNames) {
  try {
    available.push(chooseVectorBackend(name).backend);
  } catch {
    absent.push(name);
  }
}

const dimension = 129;
const generator = xoroshiro128plus(42);
function randomUnitVector(): Float32Array {
  const values = Array.from({ length: dimension }, () => generator.next() / 2 ** 31);
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}
const vectors = Array.from({ length: 1_000 }, randomUnitVector);
const queries = Array.from({ length: 20 }, randomUnitVector);

/** The best rows by definition, in double precision. */
function expected(query: Float32Array): { id: number; score: number }[] {
  return vectors
    .map((vector, id) => ({ id, score: vector.reduce((sum, value, i) => sum + value * query[i]!, 0) }))
    .sort((a, b) => b.score - a.score);
}

describe.each(available)('$name $version', (backend) => {
  test('ranks 1,000 vectors as the definition does, with its scores to 1e-6', () => {
    const index = backend.createIndex(dimension);
    index.add(vectors.slice(0, 1));
    index.add(vectors.slice(1));
    for (const query of queries) {
      const { ids, scores } = index.search(query, 50);
      const best = expected(query).slice(0, 50);
      expect(ids).toEqual(best.map(({ id }) => id));
      for (const [i, score] of scores.entries()) expect(Math.abs(score - best[i]!.score)).toBeLessThan(1e-6);
    }
  });

  test('k of 0, k above the number of rows, and an empty index', () => {
    const index = backend.createIndex(dimension);
    expect(index.search(queries[0]!, 5)).toEqual({ ids: [], scores: [] });
    index.add(vectors.slice(0, 3));
    expect(index.search(queries[0]!, 0)).toEqual({ ids: [], scores: [] });
    expect([...index.search(queries[0]!, 99).ids].sort()).toEqual([0, 1, 2]);
  });

  test('gives negative scores, and the same score to equal vectors in any position', () => {
    const index = backend.createIndex(dimension);
    index.add(vectors.slice(0, 7).flatMap((vector) => [vectors[500]!, vector]));
    index.add([vectors[500]!.map((value) => -value)]);
    const { ids, scores } = index.search(vectors[500]!, 15);
    expect([...ids.slice(0, 7)].sort((a, b) => a - b)).toEqual([0, 2, 4, 6, 8, 10, 12]);
    expect(new Set(scores.slice(0, 7)).size).toBe(1);
    expect(ids[14]).toBe(14);
    expect(scores[14]).toBeCloseTo(-1, 6);
  });

  test('indexes are independent', () => {
    const [first, second] = [backend.createIndex(2), backend.createIndex(2)];
    first.add([new Float32Array([1, 0])]);
    expect(second.search(new Float32Array([1, 0]), 1).ids).toEqual([]);
  });
});

describe('chooseVectorBackend', () => {
  test('takes the first backend that works, and says why it rejected the ones before it', () => {
    expect(available.map(({ name }) => name)).toEqual(expect.arrayContaining(['typescript']));
    const { backend, rejectedBackends } = chooseVectorBackend('');
    expect(backend.name).toBe(available[0]?.name);
    expect(rejectedBackends.map(({ name }) => name)).toEqual(vectorBackendNames.slice(0, rejectedBackends.length));
    for (const { reason } of rejectedBackends) expect(reason).toMatch(/^[^\n]{5,}$/);
  });

  test('takes the backend forced by the environment', () => {
    vi.stubEnv('DKI_BENCH_VECTOR_BACKEND', 'typescript');
    const { backend, rejectedBackends } = chooseVectorBackend();
    vi.unstubAllEnvs();
    expect([backend.name, rejectedBackends]).toEqual(['typescript', []]);
  });

  test('an unknown or unusable name is an error', () => {
    expect(() => chooseVectorBackend('annoy')).toThrow("unknown vector backend 'annoy'");
    for (const name of absent) {
      expect(() => chooseVectorBackend(name)).toThrow(`vector backend '${name}' does not work here: `);
    }
  });
});
