import { expect, it } from 'vitest';
import { checkInput, line } from '../../../../test/fixtures/check-input.ts';
import type { ServedLoad } from '../../../store/records/suite-measurements.ts';
import { serving } from './serving.ts';

const load = (arm: string, changes: Partial<ServedLoad> = {}): ServedLoad => ({
  ...{ arm, offered: 2, turns: 10, errors: 0, answered: 2, ttftMs: { p50: 9 }, saturated: false },
  ...{ evaluatedTokens: 4, reusedTokens: 0, movedBytes: 0, hits: null },
  ...{ sameAsText: arm === 'rag' ? null : 10, meter: { engine: 40, turns: 40 } },
  ...changes,
});

const check = (...loads: readonly ServedLoad[]) =>
  serving(
    checkInput({
      probes: { measured: { serving: { sessions: 1, conversations: 2, recurrence: 0, capacity: {}, loads } } },
    }),
  );

it('compares tokens and answers of the turns that were answered', () => {
  const some = check(load('rag'), load('dki', { errors: 3, sameAsText: 7 }))!;
  expect(some).toMatchObject({ status: 'passed', detects: 'one token in 1 of 2 loads, 1 answer of 7' });
  expect(line(check(load('rag'), load('dki', { errors: 3, sameAsText: 6 }))!)).toContain(
    "other answers than rag's: dki at 2.00/s 1",
  );
  expect(line(check(load('rag', { meter: { engine: 41, turns: 40 } }))!)).toContain('engine 41, turns 40');
});

it('proves nothing by loads in which every turn failed', () => {
  const failed = { errors: 10, ttftMs: null, meter: { engine: 0, turns: 0 } };
  expect(check(load('rag', failed), load('dki', { ...failed, sameAsText: 0 }))!.status).toBe('undecided');
  expect(check(load('rag'), load('dki', { ...failed, sameAsText: 0 }))!.evidence).toContain('in 0 loads of arms');
});
