import { expect, it } from 'vitest';
import { askedTwice, changedTurn, type Changes, checkInput, rag } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../records/results.ts';
import type { CheckInput } from './check.ts';
import { tokenAccounting } from './token-accounting.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => tokenAccounting(checkInput(changes));

/** Status where the turns of `dki` are changed. */
const ofDki = (changes: Changes): CheckResult['status'] =>
  checked({ answered: [...askedTwice('rag'), ...askedTwice('dki', changes)] }).status;

const miss = { account: { cache: 'miss', built: 31 }, tokens: { evaluated: 43 } } as const;

it('passes for hits and misses that the meter agrees with', () => {
  const answered = [...askedTwice('rag'), ...askedTwice('dki'), changedTurn('dki', miss)];
  expect(checked({ answered })).toMatchObject({
    status: 'passed',
    evidence: 'meter exact on 2 cache hits and 1 misses of dki; 0 turns had nothing to inject',
  });
});

it.each<[string, Changes]>([
  ['a hit that built', { account: { built: 1 } }],
  ['a miss that built nothing', { account: { cache: 'miss' } }],
  ['a miss that built more than it could inject', { ...miss, account: { cache: 'miss', built: 32 } }],
  ['cells that were not filled', { tokens: { kvResident: 30 } }],
  ['tokens that are neither text nor injected', { tokens: { prompt: 11 } }],
  ['more evaluated than stands behind the memories', { tokens: { evaluated: 13 } }],
  ['recomputed tokens that the meter did not see', { account: { recomputed: 4 } }],
  ['memories to inject and none injected', { account: { cache: 'bypass' } }],
])('fails for %s', (_, changes) => {
  expect(ofDki(changes)).toBe('failed');
});

it('fails for a text arm that evaluated other than it says', () => {
  const answered = [...askedTwice('rag', { account: { evaluated: 42 } }), ...askedTwice('dki')];
  expect(checked({ answered }).evidence).toBe(
    '2 turns evaluated other than they claim: rag on i-1, rag on i-2 (meter 43, resident 0 of 43 tokens)',
  );
});

it('is undecided without an arm that injects, or a memory to inject', () => {
  expect(checked({ arms: [rag], answered: askedTwice('rag') }).status).toBe('undecided');
  expect(ofDki({ observed: { injectableMemories: 0 } })).toBe('undecided');
});
