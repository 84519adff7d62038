import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { BenchError } from '../base/bench-error.ts';
import { configOptions } from '../config/flags-from-schema.ts';
import { type ConfigSources, loadBenchConfig } from './load-config.ts';
import { presetModels } from '../models/default-models.ts';
import { languageModelNamed, shippedPath } from '../models/model-registry.ts';

const folder = folderOfEachTest();
const writeConfig = (text: string): void => writeFileSync(folder.file('dki-bench.config.json'), text);

const load = (flags: Record<string, unknown> = {}, environment: Record<string, string> = {}) =>
  loadBenchConfig({ flags: { dataset: './data.jsonl', ...flags }, environment, workingFolder: folder.path });

const known = ['rag', 'dki', 'dki-wrong'];
const arms = { names: known, has: (name: string) => known.includes(name) };

function failure(sources: ConfigSources): BenchError {
  try {
    loadBenchConfig({ environment: {}, workingFolder: folder.path, arms, ...sources });
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the configuration', () => {
  it('has the defaults that the documents promise', () => {
    const config = load();
    expect(config).toMatchObject({ suite: ['main'], retriever: 'router', topK: 5, threshold: -1, seed: 7, repeats: 1 });
    expect(config).toMatchObject({ labels: 'index', placement: 'chronological', margin: 2, kvBytes: 268_435_456 });
    expect(config).not.toHaveProperty('limit');
  });

  it('finds shipped files from the package and users’ files from the working folder', () => {
    mkdirSync(folder.file('mine'));
    const config = load({ embedder: 'mine' });
    expect(config.model).toBe(presetModels.model);
    expect(load({ model: 'recall-block' }).model).toBe(shippedPath(languageModelNamed('recall-block')!));
    expect(config.embedder).toBe(folder.file('mine'));
    expect(load({ model: 'mine.gguf' }).model).toBe(folder.file('mine.gguf'));
    expect(load({ model: 'random:tiny-llama' }).model).toBe('random:tiny-llama');
    const ofHub = { model: 'hf:a/b/c.gguf', embedder: 'hf:a/b' };
    expect(load(ofHub)).toMatchObject(ofHub);
    expect(config.dataset).toEqual([folder.file('data.jsonl')]);
    expect(config.db).toBe(folder.file('reports/dki-bench.sqlite'));
    expect(load({ out: 'elsewhere' }).db).toBe(folder.file('elsewhere/dki-bench.sqlite'));
  });

  it('takes several data sets, by comma or as a list', () => {
    const shipped = resolve(import.meta.dirname, '../../datasets/recall-en.jsonl');
    const own = folder.file('a.jsonl');
    expect(load({ dataset: 'recall-en, ./a.jsonl' }).dataset).toEqual([shipped, own]);
    expect(load({ dataset: './a.jsonl,recall-en' }).dataset).toEqual([own, shipped]);
    writeConfig('{"dataset": ["recall-en", "./a.jsonl"]}');
    expect(load({ dataset: undefined }).dataset).toEqual([shipped, own]);
    expect(load({ dataset: undefined }, { DKI_BENCH_DATASET: 'recall-en' }).dataset).toEqual([shipped]);
    writeFileSync(folder.file('b,c.jsonl'), '');
    expect(load({ dataset: './b,c.jsonl' }).dataset).toEqual([folder.file('b,c.jsonl')]);
  });

  it('prefers flags to the environment, and the environment to the file', () => {
    writeConfig('{"topK": 2, "seed": 2, "repeats": 2}');
    const environment = { DKI_BENCH_TOP_K: '3', DKI_BENCH_SEED: '3', DKI_BENCH_VECTOR_BACKEND: 'typescript' };
    expect(load({ topK: '4' }, environment)).toMatchObject({ topK: 4, seed: 3, repeats: 2 });
  });

  it('reads texts as numbers, lists, sizes and switches', () => {
    const config = load({ arms: 'rag, dki', kvBytes: '1.5MiB', threshold: '0.25' }, { DKI_BENCH_QUIET: 'true' });
    expect(config).toMatchObject({ arms: ['rag', 'dki'], kvBytes: 1_572_864, threshold: 0.25, quiet: true });
  });

  it.each([
    [{ arms: 'rag,dki-wrnog' }, '--arms: unknown arm "dki-wrnog": did you mean dki-wrong?'],
    [{ suite: 'mian' }, '--suite: unknown suite "mian": did you mean main?'],
    [{ labels: 'letters' }, '--labels: unknown labels "letters"'],
    [{ topK: '0' }, '--top-k "0": expected a whole number, 1 or more'],
    [{ topK: '2.5' }, '--top-k "2.5": expected a whole number, 1 or more'],
    [{ seed: '' }, '--seed "": expected a whole number, 0 or more'],
    [{ threshold: '-2' }, '--threshold "-2": expected a number, -1 or more'],
    [{ kvBytes: 'lots' }, '--kv-bytes "lots": expected bytes, or a size such as 256MiB'],
    [{ run: '../up' }, '--run "../up": expected letters, digits, ".", "_" and "-", since a folder gets this name'],
    [{ hot: 'redis://x' }, '--hot: has no effect in this run'],
    [{ retriever: 'tiered', coldIndex: 'hnsw' }, '--cold-index: has no effect in this run'],
    [
      { retriever: 'tiered', cold: 'postgres://x', coldIndex: 'hsnw' },
      '--cold-index: unknown index "hsnw": did you mean hnsw?',
    ],
    [{ gpu: 'vulcan' }, '--gpu: unknown gpu "vulcan": did you mean vulkan?'],
    [{ gpu: 'auto', gpuLayers: 'some' }, '--gpu-layers "some": expected a whole number, 0 or more, or max'],
    [{ gpuLayers: '4' }, '--gpu-layers: has no effect in this run'],
    [{ sessions: '4' }, '--sessions: has no effect in this run'],
    [{ recurrence: '0.2', suite: 'main,latency' }, '--recurrence: has no effect in this run'],
    [{ retriever: 'given', threshold: '0.2' }, '--threshold: has no effect in this run'],
    [{ retriever: 'givn' }, '--retriever: unknown retriever "givn": did you mean given?'],
    [{ run: 'a', resume: 'b' }, '--run and --resume both name a run'],
    [{ retriever: 'salience', halfLife: '0' }, '--half-life "0": expected a number of days above 0'],
    [{ dataset: './a.jsonl,recal-en' }, '--dataset: unknown data set "recal-en": did you mean recall-en?'],
    [{ dataset: 'recall-en,' }, '--dataset: unknown data set ""'],
    [{ dataset: '' }, '--dataset "": expected comma-separated names or files'],
  ])('refuses %j by name', (flags, message) => {
    const error = failure({ flags });
    expect(error.code).toBe('bad-option');
    expect(error.message).toBe(message);
  });

  it('refuses unknown environment variables', () => {
    expect(failure({ environment: { DKI_BENCH_TOPK: '3' } }).message).toBe(
      'unknown environment variable DKI_BENCH_TOPK: did you mean DKI_BENCH_TOP_K?',
    );
    expect(failure({ environment: { DKI_BENCH_SEED: 'x' } }).message).toContain('DKI_BENCH_SEED "x"');
  });

  it.each([
    ['{"top_k": 2}', 'dki-bench.config.json: top_k: unknown option "top_k": did you mean topK?'],
    ['{"seed": [1]}', 'dki-bench.config.json: seed [1]: expected a whole number, 0 or more'],
    ['{seed: 1}', 'dki-bench.config.json cannot be read'],
  ])('refuses the file %s', (text, message) => {
    writeConfig(text);
    expect(failure({}).message).toContain(message);
  });

  it('accepts any arm if the caller names none to check against', () => {
    expect(load({ arms: 'rag, mine' }).arms).toEqual(['rag', 'mine']);
    expect(failure({ environment: { DKI_BENCH_ARMS: 'mine' } })).toMatchObject({
      message: 'DKI_BENCH_ARMS: unknown arm "mine"',
      hint: 'known: rag, dki, dki-wrong',
    });
  });

  it('with --engine-url the model is the one that the server has loaded, its name there, or a file', () => {
    const modelOf = (model?: string) => load({ engineUrl: 'http://127.0.0.1:8080', model }).model;
    expect(modelOf()).toBe('served');
    expect(modelOf('my-model')).toBe('my-model');
    expect(modelOf('./my-model.gguf')).toBe(folder.file('my-model.gguf'));
    expect(failure({ flags: { model: 'my-model' } }).message).toContain('--model: unknown name "my-model"');
  });

  it('takes an option of the strategy that a resumed run has', () => {
    expect(load({ resume: 'a', preRetrieval: 'a.json' }).preRetrieval).toBe(folder.file('a.json'));
  });

  it('refuses an option of another retrieval strategy', () => {
    const { message, hint } = failure({ flags: { retriever: 'hinted', retrievalTokens: '9' } });
    expect(message).toBe('--retrieval-tokens: has no effect in this run');
    expect(hint).toBe('add --retriever salience, or drop it');
    expect(failure({ flags: { preRetrieval: 'a.json' } }).hint).toBe('add --retriever hinted, or drop it');
    expect(failure({ flags: { halfLife: '7' } }).hint).toBe('add --retriever salience, or drop it');
    expect(load({ retriever: 'salience', retrievalTokens: '0' }).retrievalTokens).toBe(0);
  });

  it('reads the weights of salience, and refuses weights that do not sum to 1', () => {
    const weights = (salienceWeights: string) => ({ retriever: 'salience', salienceWeights });
    const flags = weights('semantic=0.7,recency=0.3');
    expect(load(flags)).toMatchObject(flags);
    expect(failure({ flags: weights('semantic=0.7') }).message).toBe(
      '--salience-weights "semantic=0.7": expected semantic=…,reinforcement=…,recency=…,access=…, numbers from 0 that sum to 1',
    );
  });

  it('describes every option for the help', () => {
    const described = (wanted: string) => configOptions().find(({ key }) => key === wanted);
    const help = 'maximum number of memories retrieved for a question (default: 5)';
    expect(described('topK')).toMatchObject({ flag: '--top-k', default: 5, value: '<n>', help });
    expect(described('retriever')!.help).toMatch(
      /\(default: router; choices: router, tiered, salience, hinted, given\)$/,
    );
    expect(described('kvBytes')!.help).toMatch(/\(default: 256MiB\)$/);
    expect(described('resume')!.help).not.toContain('default');
  });
});

describe('a judge', () => {
  const named = { judge: 'http://127.0.0.1:8080', judgeModel: 'grader' };

  it('has no default; its address is completed by its route', () => {
    expect(load()).not.toHaveProperty('judge');
    expect(load(named)).toMatchObject({ judge: 'http://127.0.0.1:8080/v1/chat/completions', judgeModel: 'grader' });
    expect(load({}, { DKI_BENCH_JUDGE: 'https://one.example', DKI_BENCH_JUDGE_MODEL: 'm' }).judgeModel).toBe('m');
    expect(JSON.stringify(load(named, { DKI_BENCH_JUDGE_KEY: 'secret' }))).not.toContain('secret');
    expect(load({ judge: named.judge, resume: 'begun' }).judge).toContain('/v1/');
  });

  it.each([
    [{ judge: named.judge }, '--judge: no model is named', 'give --judge-model NAME too'],
    [{ judgeModel: 'm' }, '--judge-model: has no effect in this run', 'give --judge URL too'],
    [{ ...named, judge: 'ftp://one.example' }, '--judge: ftp: is not supported', 'http'],
    [{ ...named, model: 'random:tiny-llama' }, '--judge: has no effect in this run', 'random weights'],
  ])('%j is refused', (flags, message, hint) => {
    const error = failure({ flags });
    expect(error.message).toBe(message);
    expect(error.hint).toContain(hint);
  });
});
