import { describe, expect, it, test } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { missedBar, qualityBar } from './quality-bar.ts';

const known = { arms: ['rag', 'dki', 'dki-link:4'], metrics: ['exactMatch', 'contains', 'goldKl'] };

describe('a bar is', () => {
  it.each([
    ['contains:dki>=rag', { metric: 'contains', arm: 'dki', sign: '>=', other: 'rag', amount: 0 }],
    ['contains:dki>=rag-2', { other: 'rag', amount: -2 }],
    ['contains:dki >= rag + .5', { other: 'rag', amount: 0.5 }],
    ['contains:rag>=dki-link:4', { other: 'dki-link:4', amount: 0 }],
    ['contains:dki-link:4>=dki-link:4-1', { arm: 'dki-link:4', other: 'dki-link:4', amount: -1 }],
    ['exactMatch:dki>=80.5', { other: null, amount: 80.5 }],
    ['goldKl:dki<=.1', { sign: '<=', other: null, amount: 0.1 }],
  ])('%s', (text, bar) => {
    expect(qualityBar(text, known)).toMatchObject({ text, ...bar });
  });

  it.each([
    ['dki>=rag', '--fail-below: "dki>=rag" is no bar'],
    ['contains:dki>rag', '--fail-below: "contains:dki>rag" is no bar'],
    ['contain:dki>=rag', '--fail-below: no metric "contain": did you mean contains?'],
    ['contains:dkii>=rag', '--fail-below: no arm of this run "dkii": did you mean dki?'],
    ['contains:dki>=full-2', '--fail-below: no arm of this run "full"'],
  ])('not %s', (text, message) => {
    expect(() => qualityBar(text, known)).toThrow(message);
  });
});

test('a run that is below a bar says by what', () => {
  const results = runResults;
  const [rag, dki] = ['rag', 'dki'].map((name) => results.arms.find(({ arm }) => arm === name)!);
  const points = 100 * (rag!.metrics.exactMatch!.mean - dki!.metrics.exactMatch!.mean);
  const missed = (text: string): string | null => missedBar(results, qualityBar(text, known));
  expect(missed(`exactMatch:dki>=rag-${(Math.max(0, points) + 0.1).toFixed(3)}`)).toBeNull();
  expect(missed('exactMatch:dki>=rag+50')).toBe(
    `${results.run.name} misses the bar exactMatch:dki>=rag+50: exact match, %: ` +
      [rag!, dki!]
        .map(({ arm, metrics }) => `${arm} ${(100 * metrics.exactMatch!.mean).toFixed(1)}`)
        .reverse()
        .join(', '),
  );
  expect(missed('exactMatch:dki<=1')).toContain('misses the bar');
  expect(missed('exactMatch:dki<=100')).toBeNull();
  expect(missed('contains:dki>=10')).toBe(
    `${results.run.name}, bar contains:dki>=10: contains of dki was not measured`,
  );
  expect(missedBar({ ...results, arms: [rag!] }, qualityBar('exactMatch:dki>=rag+50', known))).toBeNull();
});
