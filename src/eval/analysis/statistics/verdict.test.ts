import { expect, test } from 'vitest';
import type { PairedDifference } from './paired-difference.ts';
import { type FamilyMember, judgeFamily, marginOf, minimumDetectableEffect, neededItems, holm } from './verdict.ts';

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

test('fewer than ten users give no verdict, but bits that are the same', () => {
  const few = { users: 9, gain: gain(0, 0.001) };
  expect(verdicts(member(few), member({ ...few, identical: true }))).toEqual(['too few users', 'identical']);
  expect(verdicts(member({ ...few, users: 10 }))).toEqual(['kept']);
});

test('undecided names the items that would decide, where there is such a number', () => {
  expect(judgeFamily([member({})], 0.02)[0]!.neededItems).toBeGreaterThan(400);
  expect(judgeFamily([member({ gain: { ...gain(-0.1, 1) } })], 0.02)[0]!.neededItems).toBeUndefined();
});

test('--margin is for metrics in %, and replaces their own', () => {
  expect(marginOf({ unit: '%', margin: 2 }, 2)).toBe(0.02);
  expect(marginOf({ unit: '%', margin: 2 }, 5)).toBe(0.05);
  expect(marginOf({ unit: 'nats', margin: 0.05 }, 5)).toBe(0.05);
});

const difference = (changes: Partial<PairedDifference>): PairedDifference => ({
  ...{ delta: 0, interval: { low: -0.05, high: 0.05 }, error: 0.02, items: 200, pAbove: () => 1 },
  ...changes,
});

test("is Bloom's 2.80 standard errors", () => {
  expect(minimumDetectableEffect({ error: 0.1 })).toBeCloseTo(0.28, 2);
});

test('needs enough items that the standard error is the margin ÷ 2.80, and more for several arms', () => {
  const one = neededItems(difference({}), 0.02, { tests: 1, effect: undefined })!;
  expect(one / 200).toBeCloseTo(2.8016 ** 2, 2);
  expect(neededItems(difference({}), 0.02, { tests: 4, effect: undefined })).toBeGreaterThan(one);
});

test('if no pair differs, needs as many items as refute the margin with ties alone', () => {
  // n · margin = 1.96² · (1 − margin) · 1.5
  const ties = difference({ error: 0 });
  expect(neededItems(ties, 0.02, { tests: 1, effect: 1.5 })).toBe(Math.ceil((1.5 * 1.959964 ** 2 * 0.98) / 0.02));
});

test('names no number of items where it would be meaningless', () => {
  const of = (changes: Partial<PairedDifference>, margin = 0.02) =>
    neededItems(difference(changes), margin, { tests: 1, effect: 1 });
  // A loss that is nearly certain; no margin; one unit; items enough, which happened to differ.
  expect(of({ interval: { low: -0.1, high: -0.01 } })).toBeUndefined();
  expect(of({}, 0)).toBeUndefined();
  expect(of({ error: Infinity })).toBeUndefined();
  expect(of({ error: 0.001 })).toBeUndefined();
});

test("agrees with R's p.adjust(c(0.01, 0.04, 0.03, 0.005), 'holm'), and ends at 1", () => {
  const expected = [0.03, 0.06, 0.06, 0.02];
  holm([0.01, 0.04, 0.03, 0.005]).forEach((p, index) => expect(p).toBeCloseTo(expected[index]!, 12));
  expect(holm([0.6, 0.9])).toEqual([1, 1]);
  expect(holm([])).toEqual([]);
});
