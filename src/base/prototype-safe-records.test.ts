import { expect, test } from 'vitest';
import { safeRecord, ownValue } from './prototype-safe-records.ts';
import { z } from 'zod';

const counts = safeRecord(z.number());

test.each(['constructor', 'toString', '__proto__', 'plain'])('%s is a key like any other', (key) => {
  const read = counts.parse(JSON.parse(`{"${key}":2}`));
  expect(ownValue(read, key)).toBe(2);
  expect(ownValue(counts.parse({}), key)).toBeUndefined();
  expect(JSON.stringify(read)).toBe(`{"${key}":2}`);
});

test('names the key of a wrong value', () => {
  expect(counts.safeParse({ a: 'b' }).error!.issues[0]).toMatchObject({ path: ['a'], code: 'invalid_type' });
  expect(counts.safeParse([1]).success).toBe(false);
});
