import { expect, test } from 'vitest';
import { holm } from './p-values.ts';

test("agrees with R's p.adjust(c(0.01, 0.04, 0.03, 0.005), 'holm'), and ends at 1", () => {
  const expected = [0.03, 0.06, 0.06, 0.02];
  holm([0.01, 0.04, 0.03, 0.005]).forEach((p, index) => expect(p).toBeCloseTo(expected[index]!, 12));
  expect(holm([0.6, 0.9])).toEqual([1, 1]);
  expect(holm([])).toEqual([]);
});
