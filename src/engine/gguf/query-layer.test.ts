import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { writeFirstLayers } from './first-layers-file.ts';
import { readGgufFile } from './gguf-file.ts';
import { readGgufHeader } from './gguf-header.ts';
import { queriesObstacle } from './query-layer.ts';

const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-query-layer-'));
afterAll(() => rmSync(scratch, { recursive: true }));

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
const tensors = { 'token_embd.weight': [1, 2, 3], ...layer(0, 100), ...layer(1, 200), ...layer(2, 300) };
const header = { ...tinyHeader('qwen3'), 'qwen3.block_count': 3 };

function write(name: string, bytes: Buffer): string {
  const path = join(scratch, name);
  writeFileSync(path, bytes);
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

const rounded = (numbers: readonly number[]): number[] => [...Float32Array.from(numbers)];
const twice = (numbers: readonly number[]): number[] =>
  rounded([0, 0, 1, 1].flatMap((head) => numbers.slice(8 * head, 8 * head + 8)));

test('the last layer makes queries where it made keys, and each KV head stands once for each of its query heads', async () => {
  const whole = write('whole.gguf', tinyGguf(header, tensors));
  const first = join(scratch, 'first.gguf');
  await writeFirstLayers(whole, first, 2, true);
  expect(readGgufHeader(first)).toMatchObject({ layers: 2, kvHeads: 4, headDimension: 8 });
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

test('a model with a KV head for each query head keeps the number of its heads', async () => {
  const same = { ...header, 'qwen3.attention.head_count_kv': 4 };
  const whole = write('same.gguf', tinyGguf(same, { ...tensors, 'blk.0.attn_k.weight': heads(500, 4) }));
  const first = join(scratch, 'same-first.gguf');
  await writeFirstLayers(whole, first, 2, true);
  expect(readGgufHeader(first).kvHeads).toBe(4);
  expect(numbersOf(first)['blk.0.attn_k.weight']).toEqual(rounded(heads(500, 4)));
});

test('queries and keys in one tensor, and numbers whose heads nobody can tell apart, stand in the way, by name', () => {
  const [q, k, v] = ['attn_q', 'attn_k', 'attn_v'].map((name) => ({
    ...{ name: `blk.0.${name}.weight`, dimensions: [64, 32], type: 8, fileOffset: 0 },
  }));
  expect(queriesObstacle({ tensors: [q!, k!, v!] }, 1)).toBeUndefined();
  const fused = { ...q!, name: 'blk.0.attn_qkv.weight' };
  expect(queriesObstacle({ tensors: [fused] }, 1)).toBe(
    'layer 0 has no attn_q.weight: it may make queries and keys by one tensor',
  );
  expect(queriesObstacle({ tensors: [q!, k!, v!] }, 2)).toMatch(/^layer 1 has no attn_q\.weight/);
  for (const odd of [
    { ...k!, type: 99 },
    { ...k!, type: 12 },
  ]) {
    expect(queriesObstacle({ tensors: [q!, odd, v!] }, 1)).toBe(
      `blk.0.attn_k.weight has numbers of type ${odd.type}, whose heads cannot be told apart`,
    );
  }
});
