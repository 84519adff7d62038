import { expect, it } from 'vitest';
import { onceFor } from './once-for.ts';

it('computes once an object, by which object it is and not by what it holds', () => {
  let computed = 0;
  const length = onceFor((list: readonly number[]) => {
    computed++;
    return list.length === 0 ? undefined : list.length;
  });
  const [one, equal, none] = [[1, 2], [1, 2], []];
  expect([one, one, equal, none, none].map(length)).toEqual([2, 2, 2, undefined, undefined]);
  expect(computed).toBe(3);
});
