import { expect, test } from 'vitest';
import { textHash } from './text-hash.ts';

test('is sha256: and the SHA-256 of the UTF-8 bytes', () => {
  expect(textHash('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(textHash('我')).not.toBe(textHash('你'));
});

test('leaves an empty text and a hash unchanged', () => {
  expect(textHash('')).toBe('');
  expect(textHash(textHash('abc'))).toBe(textHash('abc'));
});
