import { expect, test } from 'vitest';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { MemoryRouter, RouterRetriever } from '../../src/retrieval/similarity/memory-router.ts';
import { measureRetrieval } from '../../src/eval/run/measure/measure-retrieval.ts';
import { header, item, memory, writeLines } from '../fixtures/dataset-lines.ts';
import { backend, embeddings } from '../fixtures/shipped-embedder.ts';

test.each([
  [{}, ['tiered']],
  [{ cold: 'postgres://127.0.0.1/x' }, ['tiered', 'tiered, ivfflat-approximate']],
  [{ cold: 'postgres://127.0.0.1/x', coldIndex: 'ivfflat-approximate' }, ['tiered']],
])('measures tiered by the probes of pgvector besides, where there is one: %j', async (flags, tiered) => {
  const opened: (readonly [string, string | undefined])[] = [];
  const steps: (readonly [number, number])[] = [];
  const { rows } = await measureRetrieval({
    config: loadBenchConfig({ flags: { suite: 'retrieval', ...flags }, environment: {} }),
    datasets: [],
    folder: '',
    signal: new AbortController().signal,
    engines: fakeAdapter.opener({}),
    onStep: (...step) => steps.push(step),
    measured: null,
    save: () => Promise.resolve(),
    // The router in place of each: what is asked for is the question, not what it finds.
    openRetriever: (name, { coldIndex } = {}) => {
      opened.push([name, coldIndex]);
      const router = new MemoryRouter(embeddings, { backend, topK: 5, threshold: -1 });
      return Promise.resolve(new RouterRetriever(router, embeddings));
    },
  });
  const indexes = tiered.map((label) => label.split(', ')[1]);
  expect(opened.filter(([name]) => name === 'tiered').map(([, coldIndex]) => coldIndex)).toEqual(indexes);
  const all = rows.filter(({ kind }) => kind === 'all');
  const strategies = ['router', ...tiered, 'salience', 'hinted'];
  const ofMentions = ['router', 'salience', 'salience, reinforcement=0'];
  expect(all.map(({ strategy }) => strategy)).toEqual([...strategies, ...ofMentions]);
  expect(steps).toEqual(all.map((_, done) => [done, all.length]));
  const made = rows.filter(({ dataset }) => dataset === undefined);
  const differences = made.flatMap(({ againstRouter }) => againstRouter?.delta ?? []);
  expect(differences).toEqual(Array(7 * (2 + tiered.length)).fill(0));
});

test('measures the lists of a data set beside every strategy that searches it', async () => {
  using folder = new TestFolder();
  const lines = ['ann', 'bob'].flatMap((userId) => [
    ...['red', 'blue'].map((colour) => memory(`${userId}-${colour}`, { userId, content: `My ${colour} box is full.` })),
    ...['red', 'blue'].map((colour) => {
      const passages = [`${userId}-red`, `${userId}-blue`];
      const asked = { userId, query: `Is my ${colour} box full?`, category: colour };
      return item(`${userId}-${colour}-q`, { ...asked, evidence: [`${userId}-${colour}`], passages });
    }),
  ]);
  const dataset = writeLines(folder, [header({ name: 'mine' }), ...lines]);
  const flags = { suite: 'retrieval', dataset, retriever: 'given', run: 'lists' };
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
  const strategies = own.filter(({ kind }) => kind === 'all').map(({ strategy }) => strategy);
  expect(strategies).toEqual(['router', 'tiered', 'salience', 'hinted', 'given']);
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
