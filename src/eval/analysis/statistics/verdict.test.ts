import { expect, test } from 'vitest';
import type { PairedDifference } from './paired-difference.ts';
import { type FamilyMember, judgeFamily, marginOf } from './verdict.ts';

const gain = (delta: number, pLoss: number): PairedDifference => ({
  ...{ delta, interval: { low: delta - 0.05, high: delta + 0.05 }, error: 0.025, items: 400, pAbove: () => pLoss },
});

const member = (changes: Partial<FamilyMember>): FamilyMember => ({
  ...{ gain: gain(0, 0.5), users: 40, identical: false, p: 1, effect: 1 },
  ...changes,
});

const verdicts = (...members: readonly FamilyMember[]) => judgeFamily(members, 0.02).map(({ verdict }) => verdict);

test.each([
  [-0.01, 0.02, 0.001, 'kept'],
  [-0.04, 0.9, 0.04, 'lost'],
  [-0.04, 0.9, 0.06, 'undecided'],
  [0.04, 0.03, 0.04, 'undecided'],
])('a gain of %d with p %d of a loss of the margin and p %d of any difference is %s', (delta, pLoss, p, verdict) => {
  expect(verdicts(member({ gain: gain(delta, pLoss), p }))).toEqual([verdict]);
});

test('both are adjusted over the arms', () => {
  const [lost, kept] = [member({ gain: gain(-0.04, 0.9), p: 0.04 }), member({ gain: gain(0, 0.02) })];
  expect([...verdicts(lost, lost), ...verdicts(kept, kept)]).toEqual(Array(4).fill('undecided'));
});

test('arms that no test was planned for are in no family, and are not judged', () => {
  const unplanned = member({ gain: gain(-0.5, 1), p: null });
  expect(judgeFamily([unplanned, member({ gain: gain(0, 0.02) })], 0.02)).toMatchObject([
    { verdict: 'not judged', pAdjusted: null, pKept: null },
    { verdict: 'kept' },
  ]);
});

test('fewer than ten users give no verdict other than identical', () => {
  const few = { users: 9, gain: gain(0, 0.001) };
  expect(verdicts(member(few), member({ ...few, identical: true }))).toEqual(['too few users', 'identical']);
  expect(verdicts(member({ ...few, users: 10 }))).toEqual(['kept']);
});

test('undecided names the number of items that would decide, if there is one', () => {
  expect(judgeFamily([member({})], 0.02)[0]!.neededItems).toBeGreaterThan(400);
  expect(judgeFamily([member({ gain: { ...gain(-0.1, 1) } })], 0.02)[0]!.neededItems).toBeUndefined();
});

test('--margin is for metrics in %, and replaces their own', () => {
  expect(marginOf({ unit: '%', margin: 2 }, 2)).toBe(0.02);
  expect(marginOf({ unit: '%', margin: 2 }, 5)).toBe(0.05);
  expect(marginOf({ unit: 'nats', margin: 0.05 }, 5)).toBe(0.05);
});
