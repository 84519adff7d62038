import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { llamaCpp } from '../llama-cpp/llama-cpp-adapter.ts';
import { checkCapacity } from './model-file.ts';

it('KV larger than free memory and more threads than cores are refused, naming what would fit', () => {
  const window = { contextTokens: 1000, cellTokens: 2000 };
  const require = (freeBytes: number, threads = 1) =>
    checkCapacity({ sessions: 3, kvType: 'F16', threads }, window, { kvNumbersPerToken: 2 ** 18 }, freeBytes);
  const kvBytes = 3 * 2000 * 2 ** 18 * 2;
  const fits = kvBytes + 2 ** 28;
  expect(() => require(fits)).not.toThrow();
  expect(() => require(fits - kvBytes / 2)).toThrow(
    expect.objectContaining({
      code: 'bad-option',
      message:
        '--context-tokens 1000: the KV of 3 × 2000 tokens takes 2.9 GiB, but only 1.5 GiB of memory are free beside the weights',
      hint: 'use at most 500',
    }),
  );
  const cores = availableParallelism();
  expect(() => require(fits, cores)).not.toThrow();
  expect(() => require(fits, cores + 1)).toThrow(
    expect.objectContaining({ message: `--threads ${cores + 1}: this machine has ${cores} cores` }),
  );
});

it('a model is opened with no more threads and tokens than the machine can hold', async () => {
  const opener = llamaCpp.opener({});
  const model = 'random:tiny-llama';
  await expect(opener.open({ model, contextTokens: 2 ** 31 - 1 })).rejects.toThrow(
    /^--context-tokens 2147483647: the KV /,
  );
  await expect(opener.open({ model, threads: 1_000_000_000 })).rejects.toThrow(/^--threads 1000000000: /);
});
