import { expect, test } from 'vitest';
import { metricsSelfTest } from './self-test.ts';

test('holds for sound golds and shows its numbers', () => {
  const result = metricsSelfTest(['Brenko', 'brenko.', 'May 5', 'May 6', 'Tirva'], 'en', { seed: 1 });
  expect(result.held).toBe(true);
  expect(result.evidence).toContain('data set (4 golds): gold 1, derangement 0.0 %, empty 0');
  expect(result.evidence).toMatch(/zh \(8 golds\): gold 1.*least paraphrase 0\.\d*[1-9]/);
});

test('fails where golds contain one another so often that the metrics cannot tell them apart', () => {
  const nested = Array.from({ length: 30 }, (_, index) => 'x '.repeat(index + 1).trim());
  expect(metricsSelfTest(nested, 'en', { seed: 1 }).held).toBe(false);
});
