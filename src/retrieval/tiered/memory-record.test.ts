import { expect, test } from 'vitest';
import { ingressVerdict } from './memory-record.ts';

const verdict = (content: string, confidence?: unknown): string =>
  ingressVerdict({ memoryId: 'm', content, metadata: confidence === undefined ? {} : { confidence }, createdAtMs: 0 });
const long = 'x'.repeat(50);

test.each([
  [0.8, 'admitted'],
  [1, 'admitted'],
  [undefined, 'admitted'],
  [0.79, 'refused'],
  [0, 'refused'],
  [-1, 'refused'],
  ['0.9', 'refused'],
  [null, 'refused'],
  [NaN, 'refused'],
])('confidence %s: %s', (confidence, expected) => expect(verdict(long, confidence)).toBe(expected));

test('counts characters, not units of UTF-16 and not bytes', () => {
  for (const character of ['x', '猫', '😺']) {
    expect([50, 49].map((length) => verdict(character.repeat(length)))).toEqual(['admitted', 'ignored']);
  }
});

test('refuses what is not trusted, short or not', () => expect(verdict('short', 0.5)).toBe('refused'));
