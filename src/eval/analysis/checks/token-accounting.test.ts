import { expect, it } from 'vitest';
import { askedTwice, changedTurn, type Changes, checkInput, dki, rag } from '../../../../test/fixtures/check-input.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { CheckInput } from './check.ts';
import { tokenAccounting } from './token-accounting.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => tokenAccounting(checkInput(changes));

/** Status where the turns of `dki` are changed. */
const ofDki = (changes: Changes): CheckResult['status'] =>
  checked({ answered: [...askedTwice('rag'), ...askedTwice('dki', changes)] }).status;

const selector = { model: 'whole', tokens: 4, layers: 3, ms: 1 } as const;
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
  ['tokens that select others, and that the meter did not see', { account: { selector } }],
  ['first layers that the meter did not see', { account: { selector: { ...selector, model: 'first-layers' } } }],
  ['first layers that are not owned up to', { tokens: { firstLayers: 4 } }],
  ['memories to inject and none injected', { account: { cache: 'bypass' } }],
])('fails for %s', (_, changes) => {
  expect(ofDki(changes)).toBe('failed');
});

it('counts the cells that an arm leaves, where it evicts', () => {
  const left = { tokens: { kvResident: 20 } };
  expect(ofDki({ ...left, observed: { injectableCells: 20 } })).toBe('passed');
  expect(ofDki({ ...left, observed: { injectableCells: 21 } })).toBe('failed');
  expect(ofDki({ observed: { injectableCells: 20 } })).toBe('failed');
});

it('passes for tokens that select others where the meter saw them', () => {
  expect(ofDki({ account: { selector }, tokens: { evaluated: 16 } })).toBe('passed');
  const early = { ...selector, model: 'first-layers' } as const;
  expect(ofDki({ account: { selector: early }, tokens: { firstLayers: 4 } })).toBe('passed');
});

it('counts shared tokens in front of blocks, and what blocks saw, by what the arm says of them', () => {
  const made = (making: ArmTraits['making'], changes: Changes) => {
    const arms = [rag, making === undefined ? dki : { ...dki, making }];
    return checked({ arms, answered: [...askedTwice('rag'), ...askedTwice('dki', changes)] }).status;
  };
  const withSinks = (kept: number, filled = kept): Changes => ({
    observed: { injectableCells: 31 + kept },
    tokens: { kvResident: 31 + filled },
  });
  const sink = { tokens: 4, kept: true };
  expect(made({ sink }, withSinks(8))).toBe('passed');
  expect(made({ sink }, withSinks(8, 9))).toBe('failed');
  expect(made({ sink }, withSinks(8, 0))).toBe('failed');
  const builds = (built: number): Changes => ({ account: { cache: 'miss', built }, tokens: { evaluated: 12 + built } });
  expect(made({ sink: { ...sink, kept: false } }, builds(35))).toBe('passed');
  expect(made({ sink: { ...sink, kept: false } }, builds(36))).toBe('failed');
  expect(made({ context: 'previous' }, builds(62))).toBe('passed');
  expect(made({ context: 'previous' }, builds(63))).toBe('failed');
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

it('fails where the books of the whole run do not close', () => {
  const { probes } = checkInput();
  const closed = { warmUp: 9, turns: 2 * 43 + 2 * 12, prepared: 5, scoring: 30, checks: 40, measure: 0, unbooked: 0 };
  const books = (evaluatedTokens: typeof closed | null, more: Partial<CheckInput> = {}) =>
    checked({ probes: { ...probes, profile: { ...probes.profile, evaluatedTokens } }, ...more }).status;
  expect(books(closed)).toBe('passed');
  expect(books(null)).toBe('passed');
  expect(books({ ...closed, unbooked: 1 })).toBe('failed');
  expect(books({ ...closed, turns: closed.turns + 1 })).toBe('failed');
  // An unfinished run lacks some turns.
  const plan = { items: 3, withoutEvidence: 0, repeats: 1 };
  expect(books({ ...closed, turns: closed.turns + 1 }, { plan })).toBe('passed');
});
