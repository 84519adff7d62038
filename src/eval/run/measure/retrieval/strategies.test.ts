import { expect, it } from 'vitest';
import { loadBenchConfig } from '../../../../bench/load-config.ts';
import { presetModels } from '../../../../models/preset-models.ts';
import { datasetStrategies, mentionStrategies, searchingStrategies } from './strategies.ts';

const configOf = (flags: Readonly<Record<string, string>>) =>
  loadBenchConfig({ flags: { suite: 'retrieval', ...flags }, environment: {} });
const labels = (flags: Readonly<Record<string, string>>, of = searchingStrategies) =>
  of(configOf(flags)).map(({ label }) => label);

it('measures every strategy that searches, as the run opens it', () => {
  expect(labels({})).toEqual(['router', 'tiered', 'salience', 'hinted']);
  expect(searchingStrategies(configOf({})).map(({ opening }) => opening)).toEqual([
    ['router'],
    ['tiered'],
    ['salience'],
    ['hinted'],
  ]);
});

it('measures the router by the embedder that ships as well, where the run has another', () => {
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

it('measures the lists of a data set where the run is given them, and never on questions made by seed', () => {
  expect(labels({ retriever: 'given' }, datasetStrategies).at(-1)).toBe('given');
  expect(labels({ retriever: 'given' })).not.toContain('given');
  expect(labels({}, datasetStrategies)).toEqual(labels({}));
});

it('measures reinforcement beside what is left without it, by the weights of the run', () => {
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
