import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { askedTwice, line, resultsOf } from '../../../../test/fixtures/check-input.ts';
import { numericalParity } from './numerical-parity.ts';

const { checked, ofDki } = resultsOf(numericalParity);

const parity = { bitwiseEqual: false, largestDifference: 0.001 };

it('holds exact arms to bits where the self-test was bitwise', () => {
  expect(checked().status).toBe('passed');
  expect(ofDki({ observed: { parity } }).status).toBe('failed');
});

it('holds them to twice the largest difference of the self-test where it was not', () => {
  const answered = askedTwice('dki', { observed: { parity } });
  const within = (largestDifference: number) =>
    checked({ answered, probes: { parity: { prompts: 20, cuts: 60, bitwiseEqual: false, largestDifference } } }).status;
  expect([within(0.0005), within(0.0004)]).toEqual(['passed', 'failed']);
});

it('says that a device is not deterministic', () => {
  const repeated = { evaluations: 5, bitwiseEqual: false, largestDifference: 0.0004 };
  expect(line(checked({ probes: { parity: { prompts: 20, cuts: 60, ...parity, repeated } } }))).toBe(
    'passed: next token and gold within 2.00e-3 in ln p equal to text on 4 turns (self-test: 20 prompts × 60 cuts not bitwise equal,' +
      ' up to 1.00e-3 in ln p; the same prompt again differs by up to 4.00e-4: this device is not deterministic)',
  );
});

it('is undecided without an exact arm', () => {
  expect(checked({ arms: [handmadeTraits('rag')] }).status).toBe('undecided');
});
