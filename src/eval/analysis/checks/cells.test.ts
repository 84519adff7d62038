import { expect, it } from 'vitest';
import { askedTwice, checkInput, rag } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { CellsSelfTest, RunProbes } from '../../../store/records/run-probes.ts';
import { cells } from './cells.ts';
import { numericalParity } from './numerical-parity.ts';

type Tested = Exclude<CellsSelfTest, { readonly missing: string }>;

const sound: Tested = {
  oneBlock: { bitwiseEqual: true, largestDifference: 0 },
  noise: { firstKeys: 0, deeper: 0 },
  recomputed: 0.001,
  shift: 0.0005,
  planted: 0.4,
};

const probesWith = (selfTest: CellsSelfTest, parity: Partial<RunProbes['parity']> = {}): RunProbes => {
  const { probes } = checkInput();
  return { ...probes, cells: selfTest, parity: { ...probes.parity, ...parity } };
};

function checked(wrongCells: string | null | undefined, selfTest: CellsSelfTest = sound): CheckResult {
  const observed = wrongCells === undefined ? {} : { wrongCells };
  const answered = [...askedTwice('rag'), ...askedTwice('dki', { observed })];
  return cells(checkInput({ answered, probes: probesWith(selfTest) }));
}

it('passes where every turn that was read back has the cells that it must, and names the first that has not', () => {
  expect(checked(null)).toMatchObject({
    status: 'passed',
    evidence: expect.stringMatching(/^2 turns of dki/) as string,
  });
  expect(checked('values differ by 1e-1 of the largest')).toMatchObject({
    status: 'failed',
    evidence: '2 of 2 turns have wrong cells: dki on i-1: values differ by 1e-1 of the largest',
  });
});

it('fails where the self-test refutes what the cells are compared by', () => {
  expect(checked(null, { ...sound, oneBlock: { bitwiseEqual: false, largestDifference: 1e-7 } }).status).toBe('failed');
  expect(checked(null, { ...sound, shift: 0.2 }).status).toBe('failed');
  expect(checked(null, { ...sound, shift: NaN }).status).toBe('failed');
  expect(checked(null, { ...sound, shift: null }).status).toBe('passed');
});

it('is undecided, by name, of cells out of reach, of an arm that does not say, and where nothing is injected', () => {
  expect(checked(undefined, { missing: 'no cells over HTTP' })).toMatchObject({
    status: 'undecided',
    evidence: 'they cannot be read: no cells over HTTP',
  });
  expect(checked(undefined)).toMatchObject({
    status: 'undecided',
    evidence: expect.stringContaining('the cells of dki were not compared') as string,
  });
  expect(cells(checkInput({ arms: [rag] })).status).toBe('undecided');
  expect(cells(checkInput()).status).toBe('undecided');
});

it('nothing is called parity where noise is a tenth of what a planted shift does', () => {
  const parity = (largestDifference: number) =>
    numericalParity(checkInput({ probes: probesWith(sound, { bitwiseEqual: false, largestDifference }) })).status;
  expect([parity(0.039), parity(0.041)]).toEqual(['passed', 'undecided']);
});
