import { expect, it } from 'vitest';
import { answeredTurn } from '../../../../test/fixtures/turn-record.ts';
import type { JudgeProbe } from '../../../store/records/results.ts';
import { judgeNotes, judgeResults, verdictAgreement } from './judge-agreement.ts';

const probe: JudgeProbe = { model: 'grader', prompt: 'Right?', asked: 5, known: 0, failed: [] };

/** An answered turn that `contains` and the judge call right or wrong; null where the judge says nothing. */
function turn(arm: string, contains: boolean, verdict: boolean | null, gold: string | null = 'Turin') {
  const base = answeredTurn(arm);
  const own = { judge: verdict === null ? null : Number(verdict) };
  const scores = { ...base.scores, contains: gold === null ? null : Number(contains), own };
  return { ...base, item: { ...base.item, gold }, scores };
}

const turns = [
  ...[turn('rag', true, true), turn('rag', true, false), turn('rag', false, false), turn('rag', true, null)],
  ...[turn('dki', true, true), turn('dki', false, false), turn('dki', false, false, null)],
];

it('counts by arm and over all, of answerable items that both judge', () => {
  const { agreement, arms } = judgeResults(probe, turns, ['rag', 'dki']);
  // Of 5 both say the same of 4; the judge accepts 2, contains 3: by chance 12 of 25.
  expect(agreement).toEqual({ n: 5, share: 0.8, kappa: expect.closeTo((0.8 - 0.48) / 0.52, 12) as number });
  expect(arms).toEqual([
    { arm: 'rag', judged: 3, unjudged: 1, agreement: { n: 3, share: 2 / 3, kappa: expect.closeTo(0.4, 12) as number } },
    { arm: 'dki', judged: 2, unjudged: 0, agreement: { n: 2, share: 1, kappa: 1 } },
  ]);
});

it('says how well they agree, and on how many answers there is no verdict, and why', () => {
  const failed = [{ reason: 'time-out', answers: 1, first: 'judge http://j: no reply within 120 s' }];
  expect(judgeNotes(judgeResults({ ...probe, failed }, turns, ['rag', 'dki']))).toEqual([
    "judge grader agrees with contains on 80.0 % of 5 answers, Cohen's kappa 0.62",
    'judge grader gave no verdict on 1 of 6 answers, which are left out of its mean: 1 × time-out (first: judge http://j: no reply within 120 s)',
  ]);
});

it('says nothing of agreement where nothing was judged, and has no kappa where both say one thing', () => {
  const silent = judgeResults(probe, [turn('rag', true, null)], ['rag']);
  expect([silent.agreement, silent.arms[0]!.agreement]).toEqual([null, null]);
  expect(judgeNotes(silent)).toHaveLength(1);
  const one = judgeResults(probe, [turn('rag', true, true)], ['rag']);
  expect(judgeNotes(one)).toEqual(["judge grader agrees with contains on 100.0 % of 1 answers, Cohen's kappa –"]);
});

/** Pairs by how often both say yes, the first alone, the second alone, neither. */
const table = (both: number, first: number, second: number, neither: number) => [
  ...Array.from({ length: both }, () => [true, true] as const),
  ...Array.from({ length: first }, () => [true, false] as const),
  ...Array.from({ length: second }, () => [false, true] as const),
  ...Array.from({ length: neither }, () => [false, false] as const),
];

it('gives the values of worked examples', () => {
  // Grant proposals of two readers: agreement 0.7, by chance 0.5.
  expect(verdictAgreement(table(20, 5, 10, 15))).toEqual({ n: 50, share: 0.7, kappa: expect.closeTo(0.4, 12) });
  // The same agreement at two rates (Smeeton 1985).
  expect(verdictAgreement(table(45, 15, 25, 15))?.kappa).toBeCloseTo(0.1304, 4);
  expect(verdictAgreement(table(25, 35, 5, 35))?.kappa).toBeCloseTo(0.2593, 4);
});

it('is 1 where both always agree, −1 where they never do, 0 by chance', () => {
  expect(verdictAgreement(table(3, 0, 0, 2))).toEqual({ n: 5, share: 1, kappa: 1 });
  expect(verdictAgreement(table(0, 2, 2, 0))).toEqual({ n: 4, share: 0, kappa: -1 });
  expect(verdictAgreement(table(1, 1, 1, 1))).toEqual({ n: 4, share: 0.5, kappa: 0 });
});

it('has no kappa where nobody ever says anything else, and nothing without a pair', () => {
  expect(verdictAgreement(table(7, 0, 0, 0))).toEqual({ n: 7, share: 1, kappa: null });
  expect(verdictAgreement([])).toBeNull();
});
