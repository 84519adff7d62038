import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { askedTwice, type Changes, checkInput } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { CheckInput } from './check.ts';
import { numericalParity } from './numerical-parity.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => numericalParity(checkInput(changes));

/** Status where the turns of `dki` are changed. */
const ofDki = (changes: Changes): CheckResult['status'] =>
  checked({ answered: [...askedTwice('rag'), ...askedTwice('dki', changes)] }).status;

const parity = { bitwiseEqual: false, largestDifference: 0.001 };

it('holds exact arms to bits where the self-test was bitwise', () => {
  expect(checked().status).toBe('passed');
  expect(ofDki({ observed: { parity } })).toBe('failed');
});

it('holds them to twice the largest difference of the self-test where it was not', () => {
  const within = (largestDifference: number): CheckResult['status'] => {
    const selfTest = { prompts: 20, cuts: 60, bitwiseEqual: false, largestDifference };
    const answered = askedTwice('dki', { observed: { parity } });
    return checked({ answered, probes: { ...checkInput().probes, parity: selfTest } }).status;
  };
  expect([within(0.0005), within(0.0004)]).toEqual(['passed', 'failed']);
});

it('says that a device computes otherwise from run to run', () => {
  const repeated = { evaluations: 5, bitwiseEqual: false, largestDifference: 0.0004 };
  const selfTest = { prompts: 20, cuts: 60, bitwiseEqual: false, largestDifference: 0.001, repeated };
  const { status, evidence } = checked({ probes: { ...checkInput().probes, parity: selfTest } });
  expect([status, evidence]).toEqual([
    'passed',
    'next token and gold within 2.00e-3 in ln p equal to text on 4 turns (self-test: 20 prompts × 60 cuts not bitwise equal,' +
      ' up to 1.00e-3 in ln p; the same prompt again differs by up to 4.00e-4: this device computes otherwise from run to run)',
  ]);
});

it('is undecided without an exact arm', () => {
  expect(checked({ arms: [handmadeTraits('rag')] }).status).toBe('undecided');
});
