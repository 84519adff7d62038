import { expect, test } from 'vitest';
import { pool } from './pooling.ts';

test.each([
  ['mean', [3, 2]],
  ['first', [1, 6]],
  ['last', [5, -2]],
  ['max', [5, 6]],
] as const)('%s of two tokens', (pooling, vector) => {
  expect([...pool([1, 6, 5, -2], 2, pooling)]).toEqual(vector);
});
