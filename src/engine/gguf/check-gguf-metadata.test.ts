import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { type GgufValue, tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { readModelHeader } from './model-header.ts';

const path = temporaryFolder().file('hostile.gguf');

function refusalOf(bytes: Buffer): string {
  writeFileSync(path, bytes);
  try {
    readModelHeader(path);
  } catch (error) {
    return (error as Error).message.replace(`${path}: `, '');
  }
  return 'was accepted';
}

const changed = (change: Readonly<Record<string, GgufValue>>): Buffer =>
  tinyGguf({ ...tinyHeader('llama'), ...change }, { 'output_norm.weight': [1] });

test('the same header without an impossible value is accepted', () => {
  expect(refusalOf(changed({ 'llama.rope.dimension_count': 8, 'llama.expert_count': 0 }))).toBe('was accepted');
});

const huge = 4_294_967_295;
test.each<[string, GgufValue, string]>([
  ['block_count', 0, 'a whole number from 1 to 512, got 0'],
  ['block_count', huge, `a whole number from 1 to 512, got ${huge}`],
  ['attention.head_count', 0, 'a whole number from 1 to 16384, got 0'],
  ['attention.head_count', huge, `a whole number from 1 to 16384, got ${huge}`],
  ['attention.head_count', 3, 'a divisor of embedding_length 32, got 3'],
  ['attention.head_count_kv', 0, 'a whole number from 1 to 16384, got 0'],
  ['attention.head_count_kv', 3, 'a divisor of 4 heads, got 3'],
  ['attention.key_length', 0, 'a whole number from 1 to 16384, got 0'],
  ['embedding_length', 0, 'a whole number from 1 to 1048576, got 0'],
  ['embedding_length', 'all of it', 'a whole number from 1 to 1048576, got a text'],
  ['context_length', 0, 'a whole number from 1 to 2147483647, got 0'],
  ['feed_forward_length', huge, `a whole number from 0 to 16777216, got ${huge}`],
  ['rope.dimension_count', 10, 'at most the 8 numbers of a head, got 10'],
  ['rope.dimension_count', 7, 'an even number, got 7'],
  ['rope.freq_base', { float: 0 }, '1 or more, got 0'],
  ['rope.freq_base', { float: 0.5 }, '1 or more, got 0.5'],
  ['rope.scaling.type', 'lineal', 'none or linear or yarn or longrope, got a text'],
  ['nextn_predict_layers', 2, 'fewer than the 2 layers, got 2'],
  ['attention.layer_norm_rms_epsilon', { float: Number.NaN }, 'a finite number, got NaN'],
  ['attention.layer_norm_rms_epsilon', { float: -1 }, '0 to 1, got -1'],
  ['rope.scaling.factor', { float: Number.POSITIVE_INFINITY }, 'a finite number, got Infinity'],
  ['expert_count', 100_000, 'a whole number from 0 to 512, got 100000'],
  ['expert_used_count', 9, 'some of 0 experts, got 9'],
  ['block_count', ['a', 'b'], 'one number, got a list'],
])('refuses %s of %j', (key, value, message) => {
  const name = `llama.${key}`;
  const named = key === 'attention.head_count' && value === 3 ? { 'llama.attention.head_count_kv': 1 } : {};
  expect(refusalOf(changed({ ...named, [name]: value }))).toBe(`${name} expected ${message}`);
});

test.each<[string, GgufValue, string]>([
  ['tokens', [], 'at least one token, got 0 elements'],
  ['tokens', 5, 'a list of text, got 5'],
  ['scores', { floats: [1, 2] }, 'one for each of 3 tokens, got 2 elements'],
  ['scores', ['x', 'y', 'z'], 'a list of float32, got a list of text'],
  ['token_type', { floats: [1, 1, 1] }, 'a list of int32, got a list of float32'],
  ['merges', { floats: [1] }, 'a list of text, got a list of float32'],
  ['tokens', ['a', 'b', 'a'], 'unique texts, got the text of token 2 twice'],
  ['model', 'no_vocab', 'a tokenizer, got no_vocab'],
])("refuses the tokenizer's %s of %j", (key, value, message) => {
  const name = `tokenizer.ggml.${key}`;
  expect(refusalOf(changed({ [name]: value }))).toBe(`${name} expected ${message}`);
});

const bytes = changed({});
const behind = (key: string, distance: number): number => bytes.indexOf(key) + key.length + distance;
test.each([
  ['a count of metadata', 16, 40],
  ['a count of tensors', 8, 40],
  ['the length of a list', behind('tokenizer.ggml.tokens', 8), 50],
  ['the length of a text', behind('general.name', 4), 50],
])('%s that no file of that length can hold is refused at once', (_, offset, power) => {
  const hostile = Buffer.from(bytes);
  hostile.writeBigUInt64LE(2n ** BigInt(power), offset);
  expect(refusalOf(hostile)).toBe('not a complete GGUF file');
});

test('impossible tensor dimensions are refused', () => {
  const name = 'output_norm.weight';
  const [rank, size] = [Buffer.from(bytes), Buffer.from(bytes)];
  rank.writeUInt32LE(5, behind(name, 0));
  size.writeBigUInt64LE(0n, behind(name, 4));
  expect(refusalOf(rank)).toBe(`tensor "${name}" has 5 dimensions, expected 1 to 4`);
  expect(refusalOf(size)).toBe(`tensor "${name}" has 0 numbers`);
});

test('SentencePiece needs a token for each byte; empty tokens are allowed', () => {
  const ofBytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const refusalWith = (tokens: readonly string[]): string =>
    refusalOf(changed({ 'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.tokens': tokens }));
  expect(refusalWith(['', '', ...ofBytes])).toBe('was accepted');
  expect(refusalWith(ofBytes.slice(0, -1))).toBe('tokenizer.ggml.tokens expected a token for each byte, got no <0xFF>');
});

const superfluous = 'exists, but llama.feed_forward_length is 0 or missing';
test.each<[string, number[], number, Record<string, GgufValue>, string]>([
  ['output_norm.weight', [1], 1, {}, 'has numbers of type 1, expected a vector of 32-bit floats'],
  ['rope_freqs.weight', [1, 2, 3], 0, {}, 'has 3 numbers, expected one for each pair of 8 numbers'],
  ['blk.1.ffn_up.weight', [1], 0, {}, superfluous],
  ['blk.1.ffn_up.weight', [1], 0, { 'llama.feed_forward_length': 0 }, superfluous],
])('refuses %s of %j in type %d with %j', (name, numbers, type, change, why) => {
  const hostile = tinyGguf({ ...tinyHeader('llama'), ...change }, { [name]: numbers });
  // After the name: number of dimensions, one dimension, type.
  hostile.writeUInt32LE(type, hostile.indexOf(name) + name.length + 4 + 8);
  expect(refusalOf(hostile)).toBe(`tensor "${name}" ${why}`);
});

test('an alignment that is not a power of two is refused, and so is a duplicate key', () => {
  expect(refusalOf(changed({ 'general.alignment': 0 }))).toBe('general.alignment expected a power of two');
  const twice = changed({ 'general.abcd': 'x' });
  twice.write('general.name', twice.indexOf('general.abcd'));
  expect(refusalOf(twice)).toBe('its header has "general.name" twice');
});
