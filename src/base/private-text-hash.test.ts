import { expect, test } from 'vitest';
import { privateTextHash } from './private-text-hash.ts';

test('is sha256: and the SHA-256 of the UTF-8 bytes', () => {
  expect(privateTextHash('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(privateTextHash('我')).not.toBe(privateTextHash('你'));
});

test('leaves an empty text and a hash unchanged', () => {
  expect(privateTextHash('')).toBe('');
  expect(privateTextHash(privateTextHash('abc'))).toBe(privateTextHash('abc'));
});
