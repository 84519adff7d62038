import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { bothTwice, changedTurn, resultsOf } from '../../../../test/fixtures/check-input.ts';
import { tokenIdentity } from './token-identity.ts';

const { checked, ofDki } = resultsOf(tokenIdentity);

it('passes for equal ids', () => {
  expect(checked()).toEqual({
    status: 'passed',
    evidence: '2 turns of dki hold the ids of rag, 4 turns those of their own prompt',
    detects: 'one other id in 1 of 6 comparisons',
  });
});

it('fails for ids that are not those of the reference, or of the own prompt', () => {
  expect(ofDki({ observed: { sequenceSha256: 'ee'.repeat(32) } }).status).toBe('failed');
  expect(ofDki({ observed: { firstForeignToken: 3 } }).status).toBe('failed');
});

it('compares no turns of different conversations, and needs one to pass', () => {
  const facts = { historySha256: 'another' };
  const another = { facts, observed: { sequenceSha256: 'ee'.repeat(32) } };
  expect(ofDki(another).status).toBe('failed');
  expect(checked({ answered: [...bothTwice(), changedTurn('dki', another)] }).status).toBe('passed');
});

it('reads no ids back where positions are shared', () => {
  const shared = { account: { sharesPositions: true }, observed: { firstForeignToken: 3 } };
  expect(ofDki(shared).status).toBe('passed');
});

it('is undecided where no arm claims any', () => {
  expect(checked({ arms: [handmadeTraits('rag')] }).status).toBe('undecided');
});
