import { expect, it } from 'vitest';
import { loadBenchConfig } from '../../../config/load-config.ts';
import { presetModels } from '../../../config/models/preset-models.ts';
import { datasetStrategies, searchingStrategies } from './strategies.ts';

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
