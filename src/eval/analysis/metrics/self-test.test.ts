import { expect, test } from 'vitest';
import { metricsCheck } from './self-test.ts';

const checked = (golds: readonly string[], language: 'en' | 'zh') =>
  metricsCheck(new Map([[language, golds]]), { seed: 1 });

test('passes for sound golds and shows its numbers', () => {
  const result = checked(['Brenko', 'brenko.', 'May 5', 'May 6', 'Tirva'], 'en');
  expect(result.status).toBe('passed');
  expect(result.evidence).toContain('data set (4 golds): gold 1, derangement 0.0 %, empty 0');
  expect(result.evidence).toMatch(/zh \(8 golds\): gold 1.*least paraphrase 0\.\d*[1-9]/);
});

test('fails where golds contain one another so often that the metrics cannot tell them apart', () => {
  const nested = Array.from({ length: 30 }, (_, index) => 'x '.repeat(index + 1).trim());
  expect(checked(nested, 'en').status).toBe('failed');
});

test('golds are tried in each language by itself', () => {
  const english = ['Brenko', 'May 5', 'Tirva'];
  const both = (chinese: readonly string[]) =>
    metricsCheck(
      new Map([
        ['en', english],
        ['zh', chinese],
      ] as const),
      { seed: 1 },
    );
  const { status, evidence } = both(['都灵', '青岛', '４８２１', '4821']);
  expect(status).toBe('passed');
  expect(evidence).toContain('data in en (3 golds): gold 1, derangement 0.0 %, empty 0; data in zh (3 golds): gold 1');
  // By characters each contains the next; as words of English none does.
  const nested = Array.from({ length: 30 }, (_, index) => '记'.repeat(index + 1));
  expect(both(nested).status).toBe('failed');
  expect(checked(nested, 'en').status).toBe('passed');
});
