import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';
import { runBench } from '../../src/bench/compose.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { presetModels } from '../../src/models/preset-models.ts';
import { EmbeddingService } from '../../src/models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/models/embedding/transformers-embedder.ts';
import { MemoryRouter, RouterRetriever } from '../../src/retrieval/memory-router.ts';
import { measureRetrieval } from '../../src/eval/run/measure/measure-retrieval.ts';
import { backend } from '../fixtures/shipped-embedder.ts';

const embedder = presetModels.embedder;

test.each([
  [{}, [undefined]],
  [{ cold: 'postgres://127.0.0.1/x' }, [undefined, 'ivfflat-approximate']],
  [{ cold: 'postgres://127.0.0.1/x', coldIndex: 'ivfflat-approximate' }, [undefined]],
])(
  'measures tiered by the probes of pgvector besides, where there is one: %j',
  async (flags, indexes) => {
    const embeddings = new EmbeddingService(() => TransformersEmbedder.open(embedder));
    const opened: (readonly [string, string | undefined])[] = [];
    const steps: (readonly [number, number])[] = [];
    const { rows } = await measureRetrieval({
      config: loadBenchConfig({ flags: { suite: 'retrieval', ...flags }, environment: {} }),
      datasets: [],
      folder: '',
      signal: new AbortController().signal,
      engines: fakeAdapter.opener({}),
      onStep: (...step) => steps.push(step),
      // The router in place of each: what is asked for is the question, not what it finds.
      openRetriever: (name, { coldIndex } = {}) => {
        opened.push([name, coldIndex]);
        const router = new MemoryRouter(embeddings, { backend, topK: 5, threshold: -1 });
        return Promise.resolve(new RouterRetriever(router, embeddings));
      },
    });
    expect(opened.filter(([name]) => name === 'tiered').map(([, coldIndex]) => coldIndex)).toEqual(indexes);
    const all = rows.filter(({ kind }) => kind === 'all');
    const strategies = all.filter(({ dataset }) => dataset === undefined).map(({ strategy }) => strategy);
    expect(strategies).toHaveLength(3 + indexes.length);
    expect(all.filter(({ dataset }) => dataset !== undefined).map(({ strategy }) => strategy)).toEqual([
      'router',
      'salience',
      'salience, reinforcement=0',
    ]);
    expect(steps).toEqual(all.map((_, done) => [done, all.length]));
    expect(strategies.includes('tiered, ivfflat-approximate')).toBe(indexes.length === 2);
    const made = rows.filter(({ dataset }) => dataset === undefined);
    const differences = made.flatMap(({ againstRouter }) => againstRouter?.delta ?? []);
    expect(differences).toHaveLength(7 * (2 + indexes.length));
    expect(new Set(differences)).toEqual(new Set([0]));
  },
  120_000,
);

test('measures the lists of a data set beside every strategy that searches it', async () => {
  using folder = new TestFolder();
  const lines = ['ann', 'bob'].flatMap((userId) => [
    ...['red', 'blue'].map((colour) => ({
      ...{ type: 'memory', userId, memoryId: `${userId}-${colour}`, createdAt: '2026-01-01T00:00:00Z' },
      content: `My ${colour} box is full.`,
    })),
    ...['red', 'blue'].map((colour) => ({
      ...{ type: 'item', userId, itemId: `${userId}-${colour}-q`, query: `Is my ${colour} box full?`, answer: 'Yes' },
      ...{ evidence: [`${userId}-${colour}`], passages: [`${userId}-red`, `${userId}-blue`], category: colour },
      askedAt: '2026-02-01T00:00:00Z',
    })),
  ]);
  writeFileSync(folder.file('mine.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const flags = { suite: 'retrieval', dataset: './mine.jsonl', retriever: 'given', run: 'lists' };
  const [results] = await runBench(smallConfig(folder, flags));
  const { rows, datasets } = results!.measured!.retrieval!;
  expect(datasets).toEqual([
    { name: 'mine', users: 2, memories: 4, questions: 4, leftOut: 0 },
    // 30 users with 4 topics each: 7 values said once, one said 2 or 5 times.
    { name: 'repeated mentions', users: 30, memories: 30 * (4 * 7 + 2 + 2 + 5 + 5), questions: 120, leftOut: 0 },
  ]);
  const recall = (strategy: string, kind: string): number =>
    rows.find((row) => row.dataset === 'repeated mentions' && row.strategy === strategy && row.kind === kind)!.metrics
      .recallAt1!.mean;
  expect(recall('salience', 'said 5 times')).toBeGreaterThan(recall('salience, reinforcement=0', 'said 5 times') + 0.3);
  expect(recall('salience', 'said 5 times')).toBeGreaterThan(recall('router', 'said 5 times') + 0.3);
  const own = rows.filter(({ dataset }) => dataset === 'mine');
  expect(own.filter(({ kind }) => kind === 'all').map(({ strategy }) => strategy)).toEqual([
    'router',
    'tiered',
    'salience',
    'hinted',
    'given',
  ]);
  const ranks = (strategy: string): unknown =>
    own
      .filter((row) => row.strategy === strategy)
      .map(({ kind, n, metrics }) => [kind, n, metrics.recallAt1?.mean, metrics.mrr?.mean]);
  expect(ranks('given')).toEqual([
    ['all', 4, 0.5, 0.75],
    ['red', 2, 1, 1],
    ['blue', 2, 0, 0.5],
  ]);
  expect(ranks('router')).toEqual([
    ['all', 4, 1, 1],
    ['red', 2, 1, 1],
    ['blue', 2, 1, 1],
  ]);
  expect(rows.some(({ dataset, strategy }) => dataset === undefined && strategy === 'given')).toBe(false);
});
