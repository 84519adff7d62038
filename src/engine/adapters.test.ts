import { expect, test } from 'vitest';
import { adapterNamed, adapters } from './adapters.ts';

const names = adapters.map(({ name }) => name);

test('an adapter is found by its unique name', () => {
  expect(new Set(names).size).toBe(adapters.length);
  expect(names.map((name) => adapterNamed(name))).toEqual(adapters);
});

test('an unknown name is refused, suggesting the nearest', () => {
  expect(() => adapterNamed('lama-cp')).toThrow(
    expect.objectContaining({
      code: 'bad-option',
      message: '--engine lama-cp: no such engine: did you mean llama-cpp?',
      hint: `known: ${names.join(', ')}`,
    }),
  );
});

test('options that an adapter does not have are refused', () => {
  expect(adapterNamed('llama-cpp').options.safeParse({ url: 'http://localhost' }).success).toBe(false);
});
