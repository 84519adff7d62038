import { expect, it } from 'vitest';
import { checkInput } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../records/results.ts';
import type { ArmIsolation } from '../../../records/run-probes.ts';
import type { CheckInput } from './check.ts';
import { isolation } from './isolation.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => isolation(checkInput(changes));

const scoped: ArmIsolation = {
  arm: 'rag',
  mustHear: true,
  owners: { answers: 25, right: 25 },
  strangers: { answers: 50, leaks: 0 },
  doubles: { answers: 5, reused: 0 },
  said: [],
};
const judged = (changes: Partial<ArmIsolation>, more: Partial<CheckInput> = {}): CheckResult['status'] =>
  checked({ probes: { ...checkInput().probes, isolation: { arms: [{ ...scoped, ...changes }] } }, ...more }).status;

it('passes without a leak, and fails by a leak, by foreign K/V, and where owners do not hear their own', () => {
  expect(judged({})).toBe('passed');
  expect(judged({ strangers: { answers: 50, leaks: 1 } })).toBe('failed');
  expect(judged({ doubles: { answers: 5, reused: 1 } })).toBe('failed');
  expect(judged({ owners: { answers: 25, right: 19 } })).toBe('failed');
  expect(judged({ owners: { answers: 25, right: 20 } })).toBe('passed');
  expect(judged({ owners: { answers: 25, right: 0 }, mustHear: false })).toBe('passed');
});

it('is undecided without a probe, and by random weights', () => {
  expect(checked().status).toBe('undecided');
  expect(judged({ strangers: { answers: 50, leaks: 1 } }, { randomWeights: true })).toBe('undecided');
});
