import { expect, test } from 'vitest';
import { memoize, memoizeTexts } from './memoize.ts';

test('computes once for an object, by its identity', () => {
  let computed = 0;
  const length = memoize((list: readonly number[]) => {
    computed++;
    return list.length === 0 ? undefined : list.length;
  });
  const [one, equal, none] = [[1, 2], [1, 2], []];
  expect([one, one, equal, none, none].map(length)).toEqual([2, 2, 2, undefined, undefined]);
  expect(computed).toBe(3);
});

test('computes once for a short text, always for a long one, and again when there were too many', () => {
  const computed: string[] = [];
  const first = memoizeTexts((text) => (computed.push(text), text[0]), { maxCharacters: 2, maxTexts: 2 });
  expect(['ab', 'ab', 'abc', 'abc', 'cd', 'ab', '', '', 'ab'].map(first)).toEqual([
    ...['a', 'a', 'a', 'a', 'c', 'a', undefined, undefined, 'a'],
  ]);
  expect(computed).toEqual(['ab', 'abc', 'abc', 'cd', '', 'ab']);
});
