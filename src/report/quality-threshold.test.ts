import { describe, expect, it, test } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { missedThreshold, parseQualityThreshold } from './quality-threshold.ts';

const known = { arms: ['rag', 'dki', 'dki-link:4'], metrics: ['exactMatch', 'contains', 'goldKl', 'goldLogProb'] };

describe('a threshold is', () => {
  it.each([
    ['contains:dki>=rag', { metric: 'contains', arm: 'dki', sign: '>=', other: 'rag', amount: 0 }],
    ['contains:dki>=rag-2', { other: 'rag', amount: -2 }],
    ['contains:dki >= rag + .5', { other: 'rag', amount: 0.5 }],
    ['contains:rag>=dki-link:4', { other: 'dki-link:4', amount: 0 }],
    ['contains:dki-link:4>=dki-link:4-1', { arm: 'dki-link:4', other: 'dki-link:4', amount: -1 }],
    ['exactMatch:dki>=80.5', { other: null, amount: 80.5 }],
    ['goldKl:dki<=.1', { sign: '<=', other: null, amount: 0.1 }],
    ['goldLogProb:dki>=-0.5', { sign: '>=', other: null, amount: -0.5 }],
  ])('%s', (text, threshold) => {
    expect(parseQualityThreshold(text, known)).toMatchObject({ text, ...threshold });
  });

  it.each([
    ['dki>=rag', '--fail-below: "dki>=rag" is not a threshold'],
    ['contains:dki>rag', '--fail-below: "contains:dki>rag" is not a threshold'],
    ['contain:dki>=rag', '--fail-below: no metric "contain": did you mean contains?'],
    ['contains:dkii>=rag', '--fail-below: no arm of this run "dkii": did you mean dki?'],
    ['contains:dki>=full-2', '--fail-below: no arm of this run "full"'],
  ])('not %s', (text, message) => {
    expect(() => parseQualityThreshold(text, known)).toThrow(message);
  });
});

test('a run that is below a threshold says by what', () => {
  const { run, arms } = runResults;
  const missed = (text: string): string | null => missedThreshold(runResults, parseQualityThreshold(text, known));
  expect(missed('exactMatch:dki>=rag-0.1')).toBeNull();
  expect(missed('exactMatch:dki>=rag+50')).toBe(
    `${run.name} misses the threshold exactMatch:dki>=rag+50: exact match, %: dki 97.2, rag 97.2`,
  );
  expect(missed('exactMatch:dki<=1')).toContain('misses the threshold');
  expect(missed('exactMatch:dki<=100')).toBeNull();
  expect(missed('contains:dki>=10')).toBe(`${run.name}, threshold contains:dki>=10: contains of dki was not measured`);
  const threshold = parseQualityThreshold('exactMatch:dki>=rag+50', known);
  expect(missedThreshold({ ...runResults, arms: arms.slice(0, 1) }, threshold)).toBeNull();
});

test('a run that has exactly the least value meets the threshold', () => {
  const arms = runResults.arms.map((one) => {
    const mean = one.arm === 'rag' ? 0.6 : 0.58;
    return { ...one, metrics: { ...one.metrics, exactMatch: { ...one.metrics.exactMatch!, mean } } };
  });
  const missed = (text: string) => missedThreshold({ ...runResults, arms }, parseQualityThreshold(text, known));
  expect(['exactMatch:dki>=58', 'exactMatch:dki>=rag-2'].map(missed)).toEqual([null, null]);
  expect(missed('exactMatch:dki>=58.1')).toContain('misses the threshold');
});
