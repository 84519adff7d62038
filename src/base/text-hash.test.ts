import { expect, test } from 'vitest';
import { textHash } from './text-hash.ts';

test('is the SHA-256 of the UTF-8 bytes, by its name', () => {
  expect(textHash('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(textHash('我')).not.toBe(textHash('你'));
});

test('leaves nothing, and a hash, as they are', () => {
  expect(textHash('')).toBe('');
  expect(textHash(textHash('abc'))).toBe(textHash('abc'));
});
