import { expect, it } from 'vitest';
import { loadBenchConfig } from '../../../bench/load-config.ts';
import type { DatasetItem, DatasetMemory, DatasetUser } from '../../../data/dataset.ts';
import { presetModels } from '../../../models/default-models.ts';
import { GivenRetriever } from '../../../retrieval/given-retriever.ts';
import type { DrawnDataset } from '../plan/plan-users.ts';
import {
  datasetStrategies,
  mentionStrategies,
  questionSet,
  retrievalRows,
  retrieveAll,
  searchingStrategies,
  type Strategy,
} from './measure-retrieval.ts';

const memories = [1, 2, 3, 4].map((day): DatasetMemory => ({
  ...{ userId: 'ann', memoryId: `m${day}`, content: `Day ${day}.`, createdAt: `2026-01-0${day}T00:00:00Z` },
  preference: false,
}));
const item = (itemId: string, day: number, evidence: readonly string[], passages: readonly string[]): DatasetItem => ({
  ...{ userId: 'ann', itemId, query: 'Which day?', answer: 'x', acceptedAnswers: [], superseded: [], history: [] },
  ...{ evidence: [...evidence], passages: [...passages], category: day > 4 ? 'late' : 'early' },
  askedAt: `2026-01-0${day}T12:00:00Z`,
});
const items = [
  item('all', 5, ['m1', 'm4'], ['m4', 'm2', 'm1']),
  item('nobody knows', 5, [], ['m1']),
  item('asked before m3', 2, ['m2'], ['m3', 'm2']),
  item('missed', 6, ['m3'], ['m1']),
];
const languageProfile = { language: 'en', unknownAnswer: '?' } as const;
const users: DatasetUser[] = [{ userId: 'ann', languageProfile, memories, items }];
const drawn: DrawnDataset = {
  part: { name: 'mine', sha256: '', language: 'en', unknownAnswer: '?', declared: {}, users },
  users,
};

it('leaves out items that no memory answers, and counts them', () => {
  const { dataset, leftOut, users: asked } = questionSet(drawn);
  expect([dataset, leftOut]).toEqual(['mine', 1]);
  expect(asked[0]!.questions.map(({ itemId }) => itemId)).toEqual(['all', 'asked before m3', 'missed']);
});

it('searches the memories that existed when the question was asked, and measures ranks', async () => {
  const retriever = new GivenRetriever();
  const asked = await retrieveAll(retriever, questionSet(drawn).users, new AbortController().signal);
  expect(asked.map(({ metrics }) => metrics)).toEqual([
    { recallAt1: 0.5, recallAt5: 1, recallAt10: 1, mrr: 1, ndcgAt10: expect.closeTo(1.5 / (1 + 1 / Math.log2(3))) },
    // m3 came later, so that m2 is the first that is there.
    { recallAt1: 1, recallAt5: 1, recallAt10: 1, mrr: 1, ndcgAt10: 1 },
    { recallAt1: 0, recallAt5: 0, recallAt10: 0, mrr: 0, ndcgAt10: 0 },
  ]);
  expect(retriever.stats()).toEqual({ memories: 4 });

  const router: Strategy = { label: 'router', opening: ['router'] };
  const other: Strategy = { label: 'router, other', opening: ['router', { embedder: 'o' }], embedder: 'o' };
  const worse = asked.map((one) => ({ ...one, metrics: { ...one.metrics, recallAt5: 0 } }));
  const measured = [
    { strategy: router, retrieved: asked },
    { strategy: other, retrieved: worse },
  ];
  const rows = retrievalRows(measured, 'mine', 7).map((row) => [row.kind, row.n, row.againstRouter?.delta, row]);
  const [first, second] = [{ strategy: 'router' }, { strategy: 'router, other', embedder: 'o' }];
  expect(rows).toMatchObject([
    ['all', 3, undefined, first],
    ['late', 2, undefined, first],
    ['early', 1, undefined, first],
    ['all', 3, expect.closeTo(-2 / 3), second],
    ['late', 2, -0.5, second],
    ['early', 1, -1, second],
  ]);
});

it('ends at once where it is aborted', async () => {
  const asking = retrieveAll(new GivenRetriever(), questionSet(drawn).users, AbortSignal.abort(new Error('stop')));
  await expect(asking).rejects.toThrow('stop');
});

const configOf = (flags: Readonly<Record<string, string>>) =>
  loadBenchConfig({ flags: { suite: 'retrieval', ...flags }, environment: {} });
const labels = (flags: Readonly<Record<string, string>>, of = searchingStrategies) =>
  of(configOf(flags)).map(({ label }) => label);

it("measures every retriever that searches, with the run's options", () => {
  expect(labels({})).toEqual(['router', 'tiered', 'salience', 'hinted']);
  expect(searchingStrategies(configOf({})).map(({ opening: [name, options] }) => options ?? name)).toEqual(labels({}));
});

it('also measures the router with the bundled embedder if the run has another', () => {
  const [router, shipped, ...others] = searchingStrategies(configOf({ embedder: '/somewhere/minilm' }));
  expect([router!.label, router!.embedder]).toEqual(['router', undefined]);
  expect(shipped).toEqual({
    label: 'router, embed-en-zh',
    opening: ['router', { embedder: presetModels.embedder }],
    embedder: 'embed-en-zh',
  });
  expect(others).toHaveLength(3);
  expect(labels({ embedder: 'embed-en-zh' })).toHaveLength(4);
});

it('measures given lists on data sets that have them, never on generated questions', () => {
  expect(labels({ retriever: 'given' }, datasetStrategies).at(-1)).toBe('given');
  expect(labels({ retriever: 'given' })).not.toContain('given');
  expect(labels({}, datasetStrategies)).toEqual(labels({}));
});

it("measures the run's weights with and without reinforcement", () => {
  const ownWeights = (flags: Readonly<Record<string, string>>) =>
    mentionStrategies(configOf(flags)).map(({ label, opening: [, options] }) => [label, options?.salienceWeights]);
  expect(ownWeights({})).toEqual([
    ['router', undefined],
    ['salience', undefined],
    ['salience, reinforcement=0', 'semantic=0.625,reinforcement=0,recency=0.25,access=0.125'],
  ]);
  const weights = { salienceWeights: 'semantic=0.25,reinforcement=0.75' };
  expect(ownWeights(weights)[2]![1]).toBe('semantic=1,reinforcement=0,recency=0,access=0');
  for (const salienceWeights of ['reinforcement=1', 'semantic=1'])
    expect(ownWeights({ salienceWeights })).toHaveLength(2);
});
