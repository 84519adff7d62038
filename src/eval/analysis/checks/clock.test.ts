import { expect, it } from 'vitest';
import { askedTwice, changedTurn, checkInput, line } from '../../../../test/fixtures/check-input.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import { clock } from './clock.ts';

function checked(ragMs: number, dkiMs: number, probes: Partial<RunProbes> = {}, turns = 20) {
  const of = (arm: string, ownMs: number) =>
    Array.from({ length: turns }, (_, item) => changedTurn(arm, { observed: { ownMs } }, { itemId: `i-${item}` }));
  return clock(checkInput({ answered: [...of('rag', ragMs), ...of('dki', dkiMs)], probes }));
}

it('prints the own time of each arm, and fails beyond 5 ms more than the baseline', () => {
  expect(line(checked(1, 6))).toBe('passed: own time, median: rag 1.00 ms, dki 6.00 ms');
  expect(checked(1, 6.1).status).toBe('failed');
  expect(checked(1, 6.1, {}, 19).status).toBe('undecided');
});

it('is undecided of such a time on a busy machine', () => {
  expect(checked(1, 9, { load: { cores: 2, average: 3.1 } }).status).toBe('undecided');
  expect(checked(1, 9, { load: { cores: 2, average: 3 } }).status).toBe('failed');
  expect(checked(1, 2, { load: { cores: 2, average: 9 } }).status).toBe('passed');
});

it('fails where an arm worked outside of its turns', () => {
  expect(checked(1, 1, { refusedCalls: { rag: 0, dki: 0 } }).status).toBe('passed');
  const refused = checked(1, 1, { refusedCalls: { rag: 0, dki: 3 } });
  expect(line(refused)).toMatch(/^failed: .*dki \(3 calls\)/);
});

it('is undecided of turns that nobody timed, and without a baseline', () => {
  expect(clock(checkInput()).status).toBe('undecided');
  expect(clock(checkInput({ answered: askedTwice('dki', { observed: { ownMs: 1 } }) })).status).toBe('undecided');
});
