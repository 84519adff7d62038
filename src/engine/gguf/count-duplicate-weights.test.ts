import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { quantise } from '../../kv/quantised-block.ts';
import { encodeGgufHeader, readGgufFile } from './gguf-file.ts';
import { countDuplicateWeights } from './count-duplicate-weights.ts';

const path = temporaryFolder().file('model.gguf');
const [F32, Q4_0, Q8_0, Q2_K, BF16] = [0, 2, 8, 10, 30] as const;
const COLUMNS = 256;
const ROWS = 8;
const NUMBERS = COLUMNS * ROWS;

/** Numbers without a pattern, between −1 and 1. */
const numbers = (seed: number) => Float32Array.from({ length: NUMBERS }, (_, at) => Math.sin((at + seed) ** 2));
const bytes = (values: Float32Array): Uint8Array => new Uint8Array(values.buffer);
const upperHalves = (values: Float32Array): Uint8Array => bytes(values).filter((_, at) => at % 4 > 1);

/** Counts repeated numbers in a file with an F32 embedding and the given output layer. */
function repeated(type: number, output: Uint8Array, dimensions = [COLUMNS, ROWS]): number {
  const tensors = [
    { name: 'token_embd.weight', dimensions: [COLUMNS, ROWS], type: F32, sizeBytes: 4 * NUMBERS },
    { name: 'output.weight', dimensions, type, sizeBytes: output.length },
  ];
  const head = encodeGgufHeader({ count: 0, bytes: Buffer.alloc(0) }, tensors);
  writeFileSync(path, Buffer.concat([head, bytes(numbers(0)), output]));
  return countDuplicateWeights([readGgufFile(path)]);
}

test.each([
  ['in 32-bit floats', F32, bytes(numbers(0))],
  ['in bfloat16', BF16, upperHalves(numbers(0))],
  ['in 8 bits', Q8_0, quantise(numbers(0), 'q8_0')],
  ['in 4 bits', Q4_0, quantise(numbers(0), 'q4_0')],
] as const)('an output layer that repeats the embedding %s is found', (_, type, output) => {
  expect(repeated(type, output)).toBe(NUMBERS);
});

test.each([
  ['of its own', F32, bytes(numbers(1)), [COLUMNS, ROWS]],
  ['of another shape', F32, bytes(numbers(0)), [2 * COLUMNS, ROWS / 2]],
  ['of a type that is not read', Q2_K, new Uint8Array((NUMBERS / 256) * 84), [COLUMNS, ROWS]],
])('an output layer %s is counted', (_, type, output, dimensions) => {
  expect(repeated(type, output, dimensions)).toBe(0);
});
