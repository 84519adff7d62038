import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { presetModels } from '../default-models.ts';
import { pool, TransformersEmbedder } from './transformers-embedder.ts';

const folder = presetModels.embedder;
const texts = ['I like tea.', 'My sister Ann moved to Leeds in May, and she took the cat with her.', 'tea'];

const scratch = temporaryFolder();
let embedder: TransformersEmbedder;
beforeAll(async () => {
  embedder = await TransformersEmbedder.open(folder);
});

test('says which model it is', () => {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as { hidden_size: number };
  const sha256 = createHash('sha256').update(readFileSync(embedder.info.path)).digest('hex');
  expect(embedder.info).toMatchObject({ name: 'embed-en-zh', dimension: config.hidden_size, sha256 });
});

test("agrees with transformers.js' own pipeline, mean pooled and normalised", async () => {
  const { env, pipeline } = await import('@xenova/transformers');
  env.allowRemoteModels = false;
  env.localModelPath = dirname(folder);
  const dtype = embedder.info.path.includes('quantized') ? 'q8' : 'fp32';
  const reference = await pipeline('feature-extraction', basename(folder), { dtype });
  const vectors = await embedder.embed(texts);
  for (const [i, text] of texts.entries()) {
    const { data } = await reference(text, { pooling: 'mean', normalize: true });
    const length = Math.hypot(...vectors[i]!);
    const differences = vectors[i]!.map((value, d) => Math.abs(value / length - (data as Float32Array)[d]!));
    expect(Math.max(...differences)).toBeLessThan(1e-6);
  }
});

test('cuts a long text at the maximum, and gives finite numbers for odd ones', async () => {
  const long = 'tea '.repeat(2_000);
  const [a, b] = await embedder.embed([long, `${long} coffee`]);
  expect(a).toEqual(b);
  for (const vector of await embedder.embed(['', ' ', '\u200b', '\u0000', '😀', '茶'])) {
    expect(vector).toHaveLength(embedder.info.dimension);
    expect(vector.every(Number.isFinite)).toBe(true);
  }
});

test('names the folder and what it lacks', async () => {
  const nowhere = scratch.file('nowhere');
  const files = (last: string) =>
    `config.json, tokenizer.json, tokenizer_config.json${last} onnx/model.onnx or onnx/model_quantized.onnx`;
  const hint = `--embedder takes a folder with ${files(' and')}`;
  await expectFailure(
    TransformersEmbedder.open(nowhere),
    'bad-model',
    `embedding model ${nowhere} does not exist`,
    hint,
  );
  const lacking = `embedding model ${scratch.path} lacks ${files(',')}`;
  await expectFailure(TransformersEmbedder.open(scratch.path), 'bad-model', lacking);
});

test('a broken file is an error that names it, in one line', async () => {
  const broken = scratch.file('broken');
  cpSync(folder, broken, { recursive: true, dereference: true });
  const weights = embedder.info.path.slice(folder.length);
  writeFileSync(join(broken, weights), 'not a model');
  await expectFailure(TransformersEmbedder.open(broken), 'bad-model', /^embedding model .*broken cannot be run: ./);
  writeFileSync(join(broken, 'tokenizer.json'), '{"model": ');
  await expectFailure(TransformersEmbedder.open(broken), 'bad-model', /has a broken tokenizer\.json/);
});

test.each([
  ['mean', [3, 2]],
  ['first', [1, 6]],
  ['last', [5, -2]],
  ['max', [5, 6]],
] as const)('pools two tokens by %s', (pooling, vector) => {
  expect([...pool([1, 6, 5, -2], 2, pooling)]).toEqual(vector);
});
