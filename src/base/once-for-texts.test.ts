import { expect, test } from 'vitest';
import { onceForTexts } from './once-for-texts.ts';

test('computes once for a short text, always for a long one, and again when there were too many', () => {
  const computed: string[] = [];
  const upper = onceForTexts((text) => (computed.push(text), text.toUpperCase()), { longest: 2, most: 2 });
  expect(['ab', 'ab', 'abc', 'abc', 'cd', 'ab', 'ef', 'ab'].map(upper)).toEqual([
    ...['AB', 'AB', 'ABC', 'ABC', 'CD', 'AB', 'EF', 'AB'],
  ]);
  expect(computed).toEqual(['ab', 'abc', 'abc', 'cd', 'ef', 'ab']);
});

test('remembers that there is nothing', () => {
  const asked: string[] = [];
  const nothing = onceForTexts<string | undefined>(
    (text) => {
      asked.push(text);
      return undefined;
    },
    { longest: 1, most: 1 },
  );
  expect([nothing('a'), nothing('a')]).toEqual([undefined, undefined]);
  expect(asked).toEqual(['a']);
});
