import { describe, expect, test } from 'vitest';
import { storeRun } from '../../../../test/fixtures/stored-runs.ts';
import { smallConfig, TestFolder } from '../../../../test/model/bench-fixture.ts';
import { languageModelNamed } from '../../../models/registry.ts';
import { openDatabase } from '../../../store/database.ts';
import { resumedConfig } from './run-record.ts';

test('a run goes on with the data sets that it began with, one or several', () => {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  const config = smallConfig(folder, { seed: '8', threads: '1' });
  const resumed = (name: string, dataset: unknown) =>
    resumedConfig(config, storeRun(database, { name, turns: [], settings: { dataset, seed: 3 } }));
  expect(resumed('one', ['/data/a.jsonl'])).toMatchObject({ dataset: ['/data/a.jsonl'], seed: 3, threads: 1 });
  expect(resumed('both', ['/data/a.jsonl', '/data/b.jsonl']).dataset).toEqual(['/data/a.jsonl', '/data/b.jsonl']);
});

test('a run goes on asking as it began, whatever the registry and the command say now', () => {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  const begun = { systemPrompt: 'Be brief.', answerPrefix: 'item', generalAnswerPrefix: 'You said', template: 'chat' };
  const config = smallConfig(folder, { answerPrefix: 'none', systemPrompt: 'Be long.' });
  const resumed = resumedConfig(config, storeRun(database, { name: 'begun', turns: [], settings: begun }));
  expect(resumed).toMatchObject(begun);
  // What is filled in from the registry goes behind what is given.
  expect(resumed.given).toEqual(expect.arrayContaining(Object.keys(begun)));
});

test("a run goes on with its engine's options, and gives none of another engine's", () => {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  const settings = { engine: 'openai', engineModel: 'served', gpu: 'off', gpuLayers: 'max' };
  const run = storeRun(database, { name: 'served', turns: [], settings });
  const resumed = resumedConfig(smallConfig(folder, { engineUrl: 'http://127.0.0.1:1' }), run);
  expect(resumed).toMatchObject({ engine: 'openai', engineModel: 'served' });
  // Given options are refused by an engine that has them not.
  for (const key of ['gpu', 'gpuLayers', 'engineModel']) expect(resumed.given).not.toContain(key);
  expect(resumed.given).toContain('engineUrl');
});

test('a run goes on with its judge, wherever that answers now, and with none where it began without', () => {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  const judged = { judge: 'http://127.0.0.1:1/v1/chat/completions', judgeModel: 'grader' };
  const run = storeRun(database, { name: 'judged', turns: [], settings: judged });
  expect(resumedConfig(smallConfig(folder), run)).toMatchObject(judged);
  const moved = smallConfig(folder, { judge: 'http://127.0.0.1:2', judgeModel: 'other' });
  const { judge, judgeModel } = resumedConfig(moved, run);
  expect([judge, judgeModel]).toEqual(['http://127.0.0.1:2/v1/chat/completions', 'grader']);
  const plain = storeRun(database, { name: 'plain', turns: [] });
  expect(() => resumedConfig(moved, plain)).toThrow('--resume plain: the run asks no judge');
});

describe('a run goes on with its own model where the command names none', () => {
  const resumed = (modelName: string, model: string, flags: Record<string, string> = {}) => {
    using folder = new TestFolder();
    using database = openDatabase({ path: folder.file('runs.sqlite') });
    const run = storeRun(database, { name: 'begun', turns: [], modelName, settings: { model } });
    return resumedConfig(smallConfig(folder, flags), run);
  };
  const { sha256, source } = languageModelNamed('smollm2-135m')!;

  test('one of the registry by its bytes, random weights by their name', () => {
    const known = resumed(sha256, 'renamed.gguf');
    expect(known.model).toBe(source);
    // Its embedder and the form of its prompt go with it, as with a model that the command names.
    expect(known.given).toContain('model');
    expect(resumed('', 'random:tiny-llama').model).toBe('random:tiny-llama');
  });

  test('a file of the user must be named, and what the command names is checked as before', () => {
    expect(() => resumed('0'.repeat(64), 'mine.gguf')).toThrow('run "begun": its model is the file mine.gguf');
    expect(resumed(sha256, 'renamed.gguf', { model: './other.gguf' }).model).toMatch(/other\.gguf$/);
  });
});
