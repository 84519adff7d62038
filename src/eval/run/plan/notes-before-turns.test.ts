import { expect, test } from 'vitest';
import { fakeAdapter } from '../../../../test/fixtures/fake-engine/fake-adapter.ts';
import { presetModels } from '../../../models/default-models.ts';
import { embedderNotes, optionNotes } from './notes-before-turns.ts';

test('a threshold above every score, and a window beyond the training, are noted', async () => {
  await using engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  const { trainContextTokens } = engine.info.model;
  const withWindow = (contextTokens: number) => ({ info: { ...engine.info, contextTokens } });
  const plain = { threshold: 1, template: 'plain' } as const;
  expect(optionNotes(plain, withWindow(trainContextTokens))).toEqual([]);
  expect(optionNotes({ ...plain, threshold: 2 }, withWindow(trainContextTokens + 1))).toEqual([
    'no score is above 1: with --threshold 2 no memory is retrieved',
    expect.stringContaining(`but the model was trained on ${trainContextTokens}`),
  ]);
});

test('notes that the bundled embedder serves a model that is not in the registry', () => {
  const own = { model: 'mine.gguf', embedder: presetModels.embedder, given: [] };
  const note = [expect.stringContaining('minilm')];
  expect(embedderNotes(own, 'f'.repeat(64))).toEqual(note);
  expect(embedderNotes(own, null)).toEqual(note);
  expect(embedderNotes({ ...own, given: ['embedder'] }, null)).toEqual([]);
  expect(embedderNotes({ ...own, embedder: 'mine' }, null)).toEqual([]);
  expect(embedderNotes({ ...own, model: 'random:tiny' }, null)).toEqual([]);
});
