import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { queriesObstacle, writeFirstLayers } from './write-first-layers.ts';
import { readGgufFile } from './gguf-file.ts';
import { readModelHeader } from './model-header.ts';

const folder = temporaryFolder();
const first = folder.file('first.gguf');

function write(...parts: Parameters<typeof tinyGguf>): string {
  const path = folder.file('whole.gguf');
  writeFileSync(path, tinyGguf(...parts));
  return path;
}

/** The numbers of each tensor of 32-bit floats, by name. */
function numbersOf(path: string): Record<string, number[]> {
  const bytes = readFileSync(path);
  return Object.fromEntries(
    readGgufFile(path).tensors.map(({ name, fileOffset, dimensions }) => [
      name,
      Array.from({ length: dimensions[0]! }, (_, index) => bytes.readFloatLE(fileOffset + 4 * index)),
    ]),
  );
}

const header = { ...tinyHeader('llama'), 'llama.block_count': 12 };
const tensors = {
  'token_embd.weight': [1, 2, 3],
  'blk.0.attn_k.weight': [4],
  'blk.1.attn_k.weight': [5, 6],
  'blk.10.attn_k.weight': [7],
  'output_norm.weight': [8, 9, 10, 11, 12, 13, 14, 15, 16],
};

test('keeps the tensors of the first layers and those outside layers, and changes only the layer count', async () => {
  const whole = write(header, tensors);
  await writeFirstLayers(whole, first, 2);
  expect(readModelHeader(first)).toEqual({
    ...readModelHeader(whole),
    layers: 2,
    parameters: 15,
    storedParameters: 15,
    kvNumbersPerToken: 64,
  });
  const kept = readGgufFile(first).tensors.map(({ name }) => name);
  expect(kept).toEqual(['token_embd.weight', 'blk.0.attn_k.weight', 'blk.1.attn_k.weight', 'output_norm.weight']);
  expect(tensors).toMatchObject(numbersOf(first));
  const [before, after] = [whole, first].map((path) => {
    const { start, end } = readGgufFile(path).metadataBytes;
    return readFileSync(path).subarray(start, end);
  });
  expect([...before!.keys()].filter((at) => before![at] !== after![at])).toHaveLength(1);
});

test('overwrites an incomplete file', async () => {
  const whole = write(header, tensors);
  writeFileSync(first, Buffer.alloc(100_000, 1));
  await writeFirstLayers(whole, first, 1);
  expect(readModelHeader(first).layers).toBe(1);
  expect(readFileSync(first).length).toBeLessThan(2000);
});

test('refuses a metadata list with one number per layer, which would have to be cut too', () => {
  const byLayer = { ...tinyHeader('llama'), 'llama.feed_forward_length': { floats: [1, 1] } };
  expect(readModelHeader(write(byLayer, tensors)).listByLayer).toBe('llama.feed_forward_length');
  expect(readModelHeader(write(header, tensors)).listByLayer).toBeUndefined();
});

test('the error names a path that cannot be written', async () => {
  const whole = write(header, tensors);
  await expect(writeFirstLayers(whole, folder.file('none/first.gguf'), 1)).rejects.toMatchObject({ code: 'disk' });
});

/** Two KV heads of 8 numbers, and four query heads, as the header says. */
const heads = (first: number, count: number): number[] =>
  Array.from({ length: 8 * count }, (_, at) => first + Math.floor(at / 8) + (at % 8) / 10);
const layer = (index: number, first: number): Record<string, readonly number[]> => ({
  [`blk.${index}.attn_q.weight`]: heads(first, 4),
  [`blk.${index}.attn_k.weight`]: heads(first + 10, 2),
  [`blk.${index}.attn_v.weight`]: heads(first + 20, 2),
  [`blk.${index}.attn_k.bias`]: heads(first + 30, 2),
  [`blk.${index}.attn_q_norm.weight`]: [first + 41, 1],
  [`blk.${index}.attn_k_norm.weight`]: [first + 42, 1],
  [`blk.${index}.attn_output.weight`]: [first + 43],
});
const withQueries = { 'token_embd.weight': [1, 2, 3], ...layer(0, 100), ...layer(1, 200), ...layer(2, 300) };
const qwen3 = { ...tinyHeader('qwen3'), 'qwen3.block_count': 3 };

const rounded = (numbers: readonly number[]): number[] => [...Float32Array.from(numbers)];
const twice = (numbers: readonly number[]): number[] =>
  rounded([0, 0, 1, 1].flatMap((head) => numbers.slice(8 * head, 8 * head + 8)));

test('replaces the keys of the last layer by queries, and repeats each KV head for its query heads', async () => {
  await writeFirstLayers(write(qwen3, withQueries), first, 2, true);
  expect(readModelHeader(first)).toMatchObject({ layers: 2, kvHeads: 4, headDimension: 8 });
  const own = numbersOf(first);
  expect(Object.keys(own).filter((name) => name.startsWith('blk.2.'))).toEqual([]);
  expect(own).toMatchObject({
    'token_embd.weight': [1, 2, 3],
    'blk.0.attn_q.weight': rounded(heads(100, 4)),
    'blk.0.attn_k.weight': twice(heads(110, 2)),
    'blk.0.attn_v.weight': twice(heads(120, 2)),
    'blk.0.attn_k.bias': twice(heads(130, 2)),
    'blk.0.attn_k_norm.weight': [142, 1],
    'blk.1.attn_q.weight': rounded(heads(200, 4)),
    'blk.1.attn_k.weight': rounded(heads(200, 4)),
    'blk.1.attn_v.weight': twice(heads(220, 2)),
    'blk.1.attn_q_norm.weight': [241, 1],
    'blk.1.attn_k_norm.weight': [241, 1],
    'blk.1.attn_output.weight': [243],
  });
  // Queries have no bias here.
  expect(own).not.toHaveProperty(['blk.1.attn_k.bias']);
});

test('keeps the number of KV heads if every query head has its own', async () => {
  const same = { ...qwen3, 'qwen3.attention.head_count_kv': 4 };
  const whole = write(same, { ...withQueries, 'blk.0.attn_k.weight': heads(500, 4) });
  await writeFirstLayers(whole, first, 2, true);
  expect(readModelHeader(first).kvHeads).toBe(4);
  expect(numbersOf(first)['blk.0.attn_k.weight']).toEqual(rounded(heads(500, 4)));
});

test('reports the tensor that prevents it: fused queries and keys, or a quantised type whose heads cannot be separated', () => {
  const [q, k, v] = ['attn_q', 'attn_k', 'attn_v'].map((name) => ({
    ...{ name: `blk.0.${name}.weight`, dimensions: [64, 32], type: 8, fileOffset: 0 },
  }));
  expect(queriesObstacle({ tensors: [q!, k!, v!] }, 1)).toBeUndefined();
  const fused = { ...q!, name: 'blk.0.attn_qkv.weight' };
  const why = 'layer 0 has no attn_q.weight: it may compute queries and keys with one tensor';
  expect(queriesObstacle({ tensors: [fused] }, 1)).toBe(why);
  expect(queriesObstacle({ tensors: [q!, k!, v!] }, 2)).toMatch(/^layer 1 has no attn_q\.weight/);
  for (const type of [99, 12]) {
    expect(queriesObstacle({ tensors: [q!, { ...k!, type }, v!] }, 1)).toBe(
      `blk.0.attn_k.weight has numbers of type ${type}, which cannot be split between heads`,
    );
  }
});
