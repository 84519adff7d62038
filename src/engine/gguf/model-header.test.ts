import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { readModelHeader } from './model-header.ts';

const path = temporaryFolder().file('model.gguf');

function headerOf(bytes: Buffer): ReturnType<typeof readModelHeader> {
  writeFileSync(path, bytes);
  return readModelHeader(path);
}

const stops = { 'tokenizer.ggml.eos_token_id': 2, 'tokenizer.ggml.eot_token_id': 1, 'tokenizer.ggml.eom_token_id': 2 };

test('reads shape, rotation and frequency factors of a llama model', () => {
  const header = { ...tinyHeader('llama'), 'tokenizer.chat_template': '{{ messages }}', ...stops };
  const tensors = { 'output_norm.weight': [1, 2, 3], 'rope_freqs.weight': [1, 0.5, 8, 32] };
  expect(headerOf(tinyGguf(header, tensors))).toEqual({
    name: 'tiny',
    architecture: 'llama',
    parameters: 7,
    storedParameters: 7,
    weights: [{ type: 'F32', share: 1 }],
    trainContextTokens: 128,
    vocabularySize: 3,
    layers: 2,
    parts: 1,
    heads: 4,
    kvHeads: 2,
    headDimension: 8,
    valueDimension: 8,
    kvNumbersPerToken: 2 * 2 * 16,
    queriesObstacle: 'layer 0 has no attn_q.weight: it may compute queries and keys with one tensor',
    positionDimensions: 1,
    slidingWindowTokens: undefined,
    isRecurrent: false,
    isCompressed: false,
    stopTokens: [
      { id: 2, text: 'c' },
      { id: 1, text: 'b' },
    ],
    rotary: { base: 500_000, scale: 1, pairing: 'norm', dimensions: 8, factors: [1, 0.5, 8, 32] },
    ropeScaling: 'none',
    chatTemplate: '{{ messages }}',
  });
});

test('qwen models rotate the halves of a head, with their own head size and linear scaling', () => {
  const header = {
    ...tinyHeader('qwen3'),
    'qwen3.attention.key_length': 16,
    'qwen3.attention.value_length': 16,
    'qwen3.rope.scaling.type': 'linear',
    'qwen3.rope.scaling.factor': { float: 4 },
  };
  expect(headerOf(tinyGguf(header))).toMatchObject({
    headDimension: 16,
    rotary: { pairing: 'neox', dimensions: 16, scale: 0.25 },
    ropeScaling: 'linear',
  });
});

test('reads what prevents moving keys: other RoPE scalings, sliding windows', () => {
  const header = {
    ...tinyHeader('llama'),
    'llama.attention.sliding_window': 64,
    'llama.rope.scale_linear': { float: 2 },
  };
  const factors = { 'rope_factors_long.weight': [1, 2, 3, 4] };
  expect(headerOf(tinyGguf(header))).toMatchObject({
    slidingWindowTokens: 64,
    rotary: { scale: 0.5 },
    ropeScaling: 'linear',
  });
  expect(headerOf(tinyGguf(tinyHeader('llama'), factors)).ropeScaling).toBe('longrope');
});

const clip = { 'general.architecture': 'clip', 'tokenizer.ggml.tokens': ['a'] };
test.each([
  ['text', Buffer.from('this is no model at all, only some text that is long enough'), 'not a complete GGUF file'],
  ['nothing', Buffer.alloc(0), 'not a complete GGUF file'],
  ['a cut header', tinyGguf(tinyHeader('llama')).subarray(0, 300), 'not a complete GGUF file'],
  ['another kind of model', tinyGguf(clip), 'its header has no clip.attention.head_count'],
])('refuses %s', (_, bytes, why) => {
  expect(() => headerOf(bytes)).toThrow(expect.objectContaining({ code: 'bad-model', message: `${path}: ${why}` }));
});
