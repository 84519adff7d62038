import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { askedTwice, changedTurn, type Changes, checkInput } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { CheckInput } from './check.ts';
import { tokenIdentity } from './token-identity.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => tokenIdentity(checkInput(changes));

/** Status where the turns of `dki` are changed. */
const ofDki = (changes: Changes): CheckResult['status'] =>
  checked({ answered: [...askedTwice('rag'), ...askedTwice('dki', changes)] }).status;

it('passes for equal ids', () => {
  expect(checked()).toEqual({
    check: 'token identity',
    status: 'passed',
    evidence: '2 turns of dki hold the ids of rag, 4 turns those of their own prompt',
  });
});

it('fails for ids that are not those of the reference, or of the own prompt', () => {
  expect(ofDki({ observed: { sequenceSha256: 'ee'.repeat(32) } })).toBe('failed');
  expect(ofDki({ observed: { firstForeignToken: 3 } })).toBe('failed');
});

it('compares no turns of different conversations, and needs one to pass', () => {
  const facts = { historySha256: 'another' };
  expect(ofDki({ facts, observed: { sequenceSha256: 'ee'.repeat(32) } })).toBe('failed');
  const mixed = [
    ...askedTwice('rag'),
    ...askedTwice('dki').slice(1),
    changedTurn('dki', { facts, observed: { sequenceSha256: 'e' } }),
  ];
  expect(checked({ answered: mixed }).status).toBe('passed');
});

it('reads no ids back where positions are shared', () => {
  const shared = { account: { sharesPositions: true }, observed: { firstForeignToken: 3 } };
  expect(ofDki(shared)).toBe('passed');
});

it('is undecided where no arm claims any', () => {
  expect(checked({ arms: [handmadeTraits('rag')] }).status).toBe('undecided');
});
