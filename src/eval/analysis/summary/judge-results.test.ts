import { expect, it } from 'vitest';
import { changedTurn } from '../../../../test/fixtures/check-input.ts';
import type { JudgeProbe } from '../../../store/records/run-results.ts';
import { judgeNotes, judgeResults, verdictAgreement } from './judge-results.ts';

const probe: JudgeProbe = { model: 'grader', prompt: 'Right?', asked: 5, known: 0, failed: [] };

/** An answered turn that `contains` and the judge call right or wrong; null where the judge says nothing. */
const turn = (arm: string, contains: boolean, verdict: boolean | null, gold: string | null = 'Turin') => {
  const own = { judge: verdict === null ? null : Number(verdict) };
  return changedTurn(arm, { item: { gold }, scores: { contains: gold === null ? null : Number(contains), own } });
};

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

it.each([
  // Grant proposals of two readers: agreement 0.7, by chance 0.5.
  [[20, 5, 10, 15], { n: 50, share: 0.7, kappa: expect.closeTo(0.4, 12) as number }],
  // The same agreement at two rates (Smeeton 1985).
  [[45, 15, 25, 15], { n: 100, share: 0.6, kappa: expect.closeTo(0.1304, 4) as number }],
  [[25, 35, 5, 35], { n: 100, share: 0.6, kappa: expect.closeTo(0.2593, 4) as number }],
  [[3, 0, 0, 2], { n: 5, share: 1, kappa: 1 }],
  [[0, 2, 2, 0], { n: 4, share: 0, kappa: -1 }],
  [[1, 1, 1, 1], { n: 4, share: 0.5, kappa: 0 }],
  // Nobody ever says anything else.
  [[7, 0, 0, 0], { n: 7, share: 1, kappa: null }],
  [[0, 0, 0, 0], null],
])(
  'of pairs where both say yes, the first alone, the second alone, or neither, %j agree by %j',
  (counts, agreement) => {
    const says = [[true, true] as const, [true, false] as const, [false, true] as const, [false, false] as const];
    const pairs = counts.flatMap((count, kind) => Array.from({ length: count }, () => says[kind]!));
    expect(verdictAgreement(pairs)).toEqual(agreement);
  },
);
