import { expect, test } from 'vitest';
import { type HandmadeRun, storeRun } from '../../../../test/fixtures/stored-runs.ts';
import { smallConfig, TestFolder } from '../../../../test/model/bench-fixture.ts';
import { loadBenchConfig } from '../../../bench/load-config.ts';
import { shippedDatasets } from '../../../config/shipped-datasets.ts';
import { languageModelNamed } from '../../../models/model-registry.ts';
import { openDatabase } from '../../../store/database.ts';
import { generatedMetric } from './new-run-record.ts';
import { commandConfig, resumedConfig, unusedOptionsNote } from './resume-run.ts';

/** The options of a run that began with some settings, and is resumed with some flags. */
function resume(begun: Partial<HandmadeRun>, flags: Readonly<Record<string, string>> = {}) {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  return resumedConfig(smallConfig(folder, flags), storeRun(database, { name: 'begun', turns: [], ...begun }));
}

test('an option that the run began without is not taken from the command', () => {
  const resumed = resume({ settings: { seed: 3 } }, { retriever: 'salience', retrievalTokens: '10', threads: '1' });
  expect(resumed).not.toHaveProperty('retrievalTokens');
  expect(resumed).toMatchObject({ seed: 3, threads: 1 });
});

test('options of the command that the run does not take are named', () => {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  const run = storeRun(database, { name: 'begun', turns: [], settings: { seed: 3, topK: 5 } });
  const note = (flags: Readonly<Record<string, string>>) => {
    const config = loadBenchConfig({ flags, environment: {}, workingFolder: folder.path });
    return unusedOptionsNote(config, resumedConfig(config, run));
  };
  expect(note({ seed: '3', topK: '5', threads: '1', workers: '2' })).toBeNull();
  expect(note({ seed: '4', topK: '5', limit: '2' })).toBe('--resume: the run keeps its own --seed, --limit');
});

test('a run on data that ship is resumed in another clone', () => {
  const settings = { dataset: ['/gone/datasets/facts-en-2.jsonl', '/gone/mine.jsonl'] };
  expect(resume({ settings }).dataset).toEqual([shippedDatasets().get('facts-en-2'), '/gone/mine.jsonl']);
});

test('a resumed run keeps its prompts, even if the registry or the command differ now', () => {
  const prefixes = { answerPrefix: 'item', generalAnswerPrefix: 'You said' };
  const settings = { systemPrompt: 'Be brief.', template: 'chat', ...prefixes };
  const resumed = resume({ settings }, { answerPrefix: 'none', systemPrompt: 'Be long.' });
  expect(resumed).toMatchObject(settings);
  // What is filled in from the registry goes behind what is given.
  expect(resumed.given).toEqual(expect.arrayContaining(Object.keys(settings)));
});

test("a resumed run keeps its engine's options, and passes on none of other engines", () => {
  const settings = { engine: 'openai', engineModel: 'served', gpu: 'off', gpuLayers: 'max' };
  const resumed = resume({ settings }, { engineUrl: 'http://127.0.0.1:1' });
  expect(resumed).toMatchObject({ engine: 'openai', engineModel: 'served' });
  // An engine refuses given options that it does not have.
  for (const key of ['gpu', 'gpuLayers', 'engineModel']) expect(resumed.given).not.toContain(key);
  expect(resumed.given).toContain('engineUrl');
});

test('only options that the command gave count as given, so that suite `reuse` keeps its own size of stores', () => {
  const settings = { kvBytes: 2 ** 30, topK: 5 };
  expect(resume({ settings, given: ['topK'] }).given).not.toContain('kvBytes');
  expect(resume({ settings, given: ['kvBytes'] }).given).toContain('kvBytes');
});

test('a suite that had not begun gets the options of its command, and those must be given again that runs do not store', () => {
  const begin = (given: readonly string[], flags: Readonly<Record<string, string>> = {}) => {
    using folder = new TestFolder();
    using database = openDatabase({ path: folder.file('runs.sqlite') });
    const turns = [{ itemId: 'q', userId: 'ann', arm: 'rag', right: true }];
    const settings = { seed: 3, topK: 1000, model: 'random:tiny-llama' };
    const run = storeRun(database, { name: 'all/context', modelName: '', turns, given, settings });
    return commandConfig(loadBenchConfig({ flags, environment: {}, workingFolder: folder.path }), run);
  };
  // The number of memories is a default of the suite that had begun.
  expect(begin(['seed', 'arms'])).toMatchObject({ seed: 3, arms: ['rag'], topK: 5, model: 'random:tiny-llama' });
  expect(begin(['embedder', 'model'], { embedder: 'minilm', workers: '2' })).toMatchObject({ workers: 2 });
  expect(() => begin(['embedder', 'model'])).toThrow('--embedder is not as in the command of run "all/context"');
  expect(() => begin(['seed'], { limit: '5' })).toThrow('--limit is not as in the command of run "all/context"');
});

test('a resumed run keeps its judge, which may have a new address, and cannot get one if it began without', () => {
  const settings = { judge: 'http://127.0.0.1:1/v1/chat/completions', judgeModel: 'grader' };
  expect(resume({ settings })).toMatchObject(settings);
  const moved = { judge: 'http://127.0.0.1:2', judgeModel: 'other' };
  const { judge, judgeModel } = resume({ settings }, moved);
  expect([judge, judgeModel]).toEqual(['http://127.0.0.1:2/v1/chat/completions', 'grader']);
  expect(() => resume({}, moved)).toThrow('--resume begun: the run asks no judge');
});

test('a run is resumed with its own model if the command names none', () => {
  const { sha256, source } = languageModelNamed('smollm2-135m')!;
  const known = { modelName: sha256, settings: { model: 'renamed.gguf' } };
  expect(resume(known).model).toBe(source);
  // Its embedder and the form of its prompt go with it, as with a model that the command names.
  expect(resume(known).given).toContain('model');
  expect(resume({ modelName: '', settings: { model: 'random:tiny-llama' } }).model).toBe('random:tiny-llama');
  const own = { modelName: '0'.repeat(64), settings: { model: 'mine.gguf' } };
  expect(() => resume(own)).toThrow('run "begun" used the model file mine.gguf');
  expect(resume(known, { model: './other.gguf' }).model).toMatch(/other\.gguf$/);
});

test('generated data have metric `contains` for models that were not trained to answer with the bare value', () => {
  const metric = (model: string, data?: readonly unknown[]) =>
    generatedMetric({ ...(data && { data }) }, { modelSha256: languageModelNamed(model)!.sha256 });
  expect([metric('smollm2-135m', []), metric('recall-base', []), metric('smollm2-135m')]).toEqual([
    'contains',
    undefined,
    undefined,
  ]);
});
