import { expect, it } from 'vitest';
import { askedTwice, checkInput, line } from '../../../../test/fixtures/check-input.ts';
import { failedTurn } from '../../../../test/fixtures/turn-record.ts';
import { checkNames } from '../../../store/records/run-results.ts';
import { sampledShare } from './check.ts';
import { decideChecks } from './decide-checks.ts';

it('gives every check once, in the order in which they are shown', () => {
  const measured = { serving: { sessions: 1, conversations: 0, recurrence: 0, capacity: {}, loads: [] } };
  const audit = { answers: { evaluated: 0, reused: 0 }, counters: { evaluated: 0, reused: 0 } };
  const reread = { turns: 4, questions: 2, data: {}, scores: {}, withoutFile: 0, withoutTexts: 0 };
  const retrieverProbe = { questions: 8, wrong: [] };
  const served = decideChecks(checkInput({ probes: { measured, audit, reread, retrieverProbe } }));
  expect(served.map(({ check }) => check)).toEqual(checkNames);
  expect(decideChecks(checkInput()).map(({ check }) => check)).toEqual(
    checkNames.filter((name) => !['reuse', 'data', 'scores', 'retrieval', 'serving'].includes(name)),
  );
});

it('states for each passed check the smallest fault that it would have found', () => {
  const reread = { turns: 4, questions: 2, data: {}, scores: {}, withoutFile: 0, withoutTexts: 0 };
  const passed = decideChecks(checkInput({ probes: { reread } })).filter(({ status }) => status === 'passed');
  const silent = passed.filter(({ detects }) => detects === undefined).map(({ check }) => check);
  // The self-test of the metrics is written by hand here.
  expect([passed.length, silent]).toEqual([10, ['metrics']]);
  expect(passed.find(({ check }) => check === 'numerical parity')?.detects).toBe(
    'a difference of one bit in 1 of 4 turns',
  );
});

it('states no smallest fault for a failed check', () => {
  const failed = decideChecks(checkInput({ failed: [failedTurn('dki', 'no cell left')] })).at(-1);
  expect(failed).not.toHaveProperty('detects');
});

it.each([
  [1, '95.0 %'],
  [10, '25.9 %'],
  [59, '5.0 %'],
])('a sample of %i turns holds a fault in 95 of 100 draws if %s of the turns have it', (n, share) => {
  expect(sampledShare(n)).toBe(share);
});

it('counts errors, and tells the first', () => {
  const none = { check: 'errors', status: 'passed', evidence: '0 of 4 turns failed', detects: '1 turn of 4' };
  expect(decideChecks(checkInput()).at(-1)).toEqual(none);
  expect(line(decideChecks(checkInput({ failed: [failedTurn('dki', 'no cell left')] })).at(-1)!)).toBe(
    'failed: 1 of 5 turns failed: dki on i-7: no cell left',
  );
});

it('fails for a turn that was tried again', () => {
  const input = checkInput({ answered: askedTwice('dki', { observed: { tries: 2 } }) });
  expect(line(decideChecks(input).at(-1)!)).toMatch(/^failed: 2 turns were tried more than once: dki on i-1/);
});

it('returns the result of the metrics self-test unchanged', () => {
  const metrics = { check: 'metrics', status: 'failed', evidence: 'by hand' } as const;
  expect(decideChecks(checkInput({ probes: { metrics } }))).toContainEqual(metrics);
});
