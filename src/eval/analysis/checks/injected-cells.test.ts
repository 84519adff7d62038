import { expect, it } from 'vitest';
import { bothTwice, checkInput, rag, line, runProbes } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../store/records/run-results.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import { cells } from './injected-cells.ts';
import { numericalParity } from './numerical-parity.ts';

type Tested = Exclude<CellsSelfTest, { readonly missing: string }>;

const sound: Tested = {
  oneBlock: { bitwiseEqual: true, largestDifference: 0 },
  noise: { firstKeys: 0, deeper: 0 },
  recomputed: 0.001,
  shift: 0.0005,
  planted: 0.4,
};

function checked(wrongCells: string | null | undefined, selfTest: CellsSelfTest = sound) {
  const observed = wrongCells === undefined ? {} : { wrongCells };
  return cells(checkInput({ answered: bothTwice({ observed }), probes: { cells: selfTest } }));
}

it('passes if every compared turn has the right cells, else names the first with wrong ones', () => {
  expect(line(checked(null))).toMatch(/^passed: 2 turns of dki/);
  expect(line(checked('values differ by 1e-1 of the largest'))).toBe(
    'failed: 2 of 2 turns have wrong cells: dki on i-1: values differ by 1e-1 of the largest',
  );
});

it.each<[Partial<Tested>, CheckResult['status']]>([
  [{ oneBlock: { bitwiseEqual: false, largestDifference: 1e-7 } }, 'failed'],
  [{ shift: 0.2 }, 'failed'],
  [{ shift: NaN }, 'failed'],
  [{ shift: null }, 'passed'],
])('fails if the self-test disproves the reference cells: %j gives %s', (selfTest, status) => {
  expect(checked(null, { ...sound, ...selfTest }).status).toBe(status);
});

it.each<[Tested['noise'], CheckResult['status']]>([
  [{ firstKeys: 0.04, deeper: 0.4 }, 'passed'],
  // Twice the noise is allowed: neither keys rotated by one position too many nor values of zero would differ by more.
  [{ firstKeys: 0.05, deeper: 0 }, 'undecided'],
  [{ firstKeys: 0, deeper: 0.5 }, 'undecided'],
])('decides nothing where noise would hide wrong cells: %j is %s', (noise, status) => {
  expect(checked(null, { ...sound, noise }).status).toBe(status);
  expect(checked('values differ', { ...sound, noise }).status).toBe('failed');
});

it('is undecided if cells cannot be read, an arm does not declare its KV, or nothing is injected', () => {
  expect(line(checked(undefined, { missing: 'no cells over HTTP' }))).toBe(
    "undecided: the engine's cells cannot be read: no cells over HTTP",
  );
  expect(line(checked(undefined))).toMatch(/^undecided: .*the cells of dki were not compared/);
  expect(cells(checkInput({ arms: [rag] })).status).toBe('undecided');
  expect(cells(checkInput()).status).toBe('undecided');
});

it('parity is undecided if noise reaches a tenth of the effect of a planted shift', () => {
  const parityAt = (largestDifference: number) => {
    const parity = { ...runProbes.parity, bitwiseEqual: false, largestDifference };
    return numericalParity(checkInput({ probes: { cells: sound, parity } })).status;
  };
  expect([parityAt(0.039), parityAt(0.041)]).toEqual(['passed', 'undecided']);
});
