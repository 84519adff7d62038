import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { writeFirstLayers } from './first-layers-file.ts';
import { readGgufFile } from './gguf-file.ts';
import { readGgufHeader } from './gguf-header.ts';

const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-first-layers-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const header = { ...tinyHeader('llama'), 'llama.block_count': 12 };
const tensors = {
  'token_embd.weight': [1, 2, 3],
  'blk.0.attn_k.weight': [4],
  'blk.1.attn_k.weight': [5, 6],
  'blk.10.attn_k.weight': [7],
  'output_norm.weight': [8, 9, 10, 11, 12, 13, 14, 15, 16],
};

function write(name: string, bytes: Buffer): string {
  const path = join(scratch, name);
  writeFileSync(path, bytes);
  return path;
}

/** The numbers of a tensor of 32-bit floats. */
function numbersOf(path: string, name: string): number[] {
  const { fileOffset, dimensions } = readGgufFile(path).tensors.find((tensor) => tensor.name === name)!;
  const bytes = readFileSync(path);
  return Array.from({ length: dimensions[0]! }, (_, index) => bytes.readFloatLE(fileOffset + 4 * index));
}

test('keeps the first layers and all that is of no layer, each number, and changes one number of the header', async () => {
  const whole = write('whole.gguf', tinyGguf(header, tensors));
  const first = join(scratch, 'first.gguf');
  await writeFirstLayers(whole, first, 2);
  expect(readGgufHeader(first)).toEqual({ ...readGgufHeader(whole), layers: 2, parameters: 15, kvNumbersPerToken: 64 });
  const kept = readGgufFile(first).tensors.map(({ name }) => name);
  expect(kept).toEqual(['token_embd.weight', 'blk.0.attn_k.weight', 'blk.1.attn_k.weight', 'output_norm.weight']);
  for (const name of kept) expect(numbersOf(first, name)).toEqual(tensors[name as keyof typeof tensors]);
  const [before, after] = [whole, first].map((path) => {
    const { start, end } = readGgufFile(path).metadataBytes;
    return readFileSync(path).subarray(start, end);
  });
  expect([...before!.keys()].filter((at) => before![at] !== after![at])).toHaveLength(1);
});

test('writes over what was left of an attempt', async () => {
  const whole = write('whole.gguf', tinyGguf(header, tensors));
  const first = write('left.gguf', Buffer.alloc(100_000, 1));
  await writeFirstLayers(whole, first, 1);
  expect(readGgufHeader(first).layers).toBe(1);
  expect(readFileSync(first).length).toBeLessThan(2000);
});

test('a list with one number for each layer is named: it would have to be cut too', () => {
  const byLayer = { ...tinyHeader('llama'), 'llama.feed_forward_length': { floats: [1, 1] } };
  const path = write('lists.gguf', tinyGguf(byLayer, tensors));
  expect(readGgufHeader(path).listByLayer).toBe('llama.feed_forward_length');
  expect(readGgufHeader(write('none.gguf', tinyGguf(header, tensors))).listByLayer).toBeUndefined();
});

test('a place that cannot be written to is named', async () => {
  const whole = write('whole.gguf', tinyGguf(header, tensors));
  await expect(writeFirstLayers(whole, join(scratch, 'none', 'first.gguf'), 1)).rejects.toMatchObject({ code: 'disk' });
});
