import { expect, test } from 'vitest';
import { adapterNamed, adapters } from './adapters.ts';

test('an adapter is found by its name', () => {
  expect(adapters.map(({ name }) => name)).toEqual(['llama-cpp']);
  expect(adapterNamed('llama-cpp')).toBe(adapters[0]);
});

test('an unknown one is refused, with the nearest', () => {
  expect(() => adapterNamed('lama-cp')).toThrow(
    expect.objectContaining({
      code: 'bad-option',
      message: '--engine lama-cp: no such engine: did you mean llama-cpp?',
      hint: 'known: llama-cpp',
    }),
  );
});

test('options that an adapter does not have are refused', () => {
  expect(adapterNamed('llama-cpp').options.safeParse({ url: 'http://localhost' }).success).toBe(false);
});
