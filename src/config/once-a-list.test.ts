import { expect, it } from 'vitest';
import { onceAList } from './once-a-list.ts';

it('computes once a list, by which list it is and not by what it holds', () => {
  let computed = 0;
  const length = onceAList((list: readonly number[]) => {
    computed++;
    return list.length === 0 ? undefined : list.length;
  });
  const [one, equal, none] = [[1, 2], [1, 2], []];
  expect([one, one, equal, none, none].map(length)).toEqual([2, 2, 2, undefined, undefined]);
  expect(computed).toBe(3);
});
