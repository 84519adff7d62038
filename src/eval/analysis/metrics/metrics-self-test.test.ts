import { expect, test } from 'vitest';
import { line } from '../../../../test/fixtures/check-input.ts';
import type { MetricDefinition } from './built-in-metrics.ts';
import { metricsSelfTest } from './metrics-self-test.ts';

const checked = (golds: readonly string[], language: 'en' | 'zh') =>
  metricsSelfTest(new Map([[language, golds]]), { seed: 1 });

test('passes for sound golds and shows its numbers', () => {
  const result = checked(['Brenko', 'brenko.', 'May 5', 'May 6', 'Tirva'], 'en');
  expect(result.status).toBe('passed');
  expect(result.evidence).toContain('data set (4 golds): gold 1, derangement 0.0 %, empty 0');
  expect(result.evidence).toContain(
    'contains is fooled by none of all values recited, two of a relation, old and new together, a negation',
  );
});

test('fails where golds contain one another so often that the metrics cannot tell them apart', () => {
  const nested = Array.from({ length: 30 }, (_, index) => 'x '.repeat(index + 1).trim());
  expect(checked(nested, 'en').status).toBe('failed');
});

test('a few golds that contain another do not matter', () => {
  const places = ['Turin', 'Turin, Italy', 'Oslo', 'Leeds', 'Hull', 'Bergen'];
  for (let seed = 0; seed < 20; seed++) {
    expect(metricsSelfTest(new Map([['en', places]]), { seed }).status).toBe('passed');
  }
});

test('two golds are too few for a recital, which is tried on more', () => {
  expect(line(checked(['Leeds', 'Hull'], 'en'))).toMatch(/^passed: .*contains is fooled by none of/);
});

test('golds are tried in each language by itself', () => {
  const golds = new Map<'en' | 'zh', readonly string[]>([['en', ['Brenko', 'May 5', 'Tirva']]]);
  const both = (chinese: readonly string[]) => metricsSelfTest(golds.set('zh', chinese), { seed: 1 });
  const { status, evidence } = both(['都灵', '青岛', '４８２１', '4821']);
  expect(status).toBe('passed');
  expect(evidence).toContain('data in en (3 golds): gold 1, derangement 0.0 %, empty 0; data in zh (3 golds): gold 1');
  // Each contains the next by characters, but Chinese data cut Han characters alone.
  const nested = (letter: string) => Array.from({ length: 30 }, (_, index) => letter.repeat(index + 1));
  expect(both(nested('记')).status).toBe('failed');
  expect(both(nested('か')).status).toBe('passed');
});

const declared = { name: 'mine', label: 'mine', kind: 'binary', unit: '%', direction: 'higher', margin: 2 } as const;
const withOwn = (of: MetricDefinition['of'], changes: Partial<MetricDefinition> = {}) =>
  metricsSelfTest(new Map(), { seed: 1, own: [{ ...declared, of, ...changes }] });

test('a metric that cannot fail, cannot be right, or goes the wrong way fails the check', () => {
  expect(withOwn(({ scores }) => scores.contains).status).toBe('passed');
  expect(line(withOwn(() => 1))).toMatch(
    /^failed: .*do not tell right from wrong: mine gives golds 1, exchanged golds 1/,
  );
  expect(withOwn(() => 0).status).toBe('failed');
  expect(withOwn(() => null).evidence).toContain('mine has no value for any planted answer');
  // Everything but silence is right.
  expect(withOwn(({ answer }) => Number(answer.text !== '')).status).toBe('failed');
  const nats = { unit: 'nats', kind: 'continuous' } as const;
  expect(withOwn(({ observed }) => observed.goldLogProbability, nats).status).toBe('passed');
  expect(withOwn(({ observed }) => observed.goldLogProbability, { ...nats, direction: 'lower' }).status).toBe('failed');
});

test('fails where contains lets a recital, a rival, the old value or a negation pass', () => {
  // Golds that begin with a conjunction end the clause of the denial.
  const golds = ['because it rains', 'because it snows', 'because of you', 'and so on', 'or never'];
  expect(line(checked(golds, 'en'))).toMatch(/^failed: .*contains is fooled in \d+\.\d % by a negation/);
});
