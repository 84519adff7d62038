import { expect, it } from 'vitest';
import {
  askedTwice,
  bothTwice,
  changedTurn,
  type Changes,
  dki,
  rag,
  resultsOf,
  runProbes,
  line,
} from '../../../../test/fixtures/check-input.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { tokenAccounting } from './token-accounting.ts';

const { checked } = resultsOf(tokenAccounting);
const ofDki = (changes: Changes) => checked({ answered: bothTwice(changes) }).status;

const selector = { model: 'whole', tokens: 4, layers: 3, ms: 1 } as const;
const firstLayers = { ...selector, model: 'first-layers' } as const;
const miss = { account: { cache: 'miss', built: 31 }, tokens: { evaluated: 43 } } as const;

it('passes for hits and misses that the meter agrees with', () => {
  expect(line(checked({ answered: [...bothTwice(), changedTurn('dki', miss)] }))).toBe(
    'passed: meter exact on 2 cache hits and 1 misses of dki; 0 turns had nothing to inject',
  );
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
  ['first layers that the meter did not see', { account: { selector: firstLayers } }],
  ['a cell less than an arm leaves', { tokens: { kvResident: 20 }, observed: { injectableCells: 21 } }],
  ['cells that should have been evicted', { observed: { injectableCells: 20 } }],
  ['first layers that the account leaves out', { tokens: { firstLayers: 4 } }],
  ['memories to inject and none injected', { account: { cache: 'bypass' } }],
])('fails for %s', (_, changes) => {
  expect(ofDki(changes)).toBe('failed');
});

it.each<[string, Changes]>([
  ['the cells that an arm leaves, where it evicts', { tokens: { kvResident: 20 }, observed: { injectableCells: 20 } }],
  ['tokens that select others where the meter saw them', { account: { selector }, tokens: { evaluated: 16 } }],
  ['first layers that the meter saw', { account: { selector: firstLayers }, tokens: { firstLayers: 4 } }],
])('passes for %s', (_, changes) => {
  expect(ofDki(changes)).toBe('passed');
});

it('counts sink tokens, and the context of blocks, by the traits of the arm', () => {
  const made = (making: NonNullable<ArmTraits['making']>, changes: Changes) =>
    checked({ arms: [rag, { ...dki, making }], answered: bothTwice(changes) }).status;
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
  expect(checked({ answered: bothTwice({}, { account: { evaluated: 42 } }) }).evidence).toBe(
    '2 turns did not evaluate what they claim: rag on i-1, rag on i-2 (meter 43, resident 0 of 43 tokens)',
  );
});

it('is undecided without an arm that injects, or a memory to inject', () => {
  expect(checked({ arms: [rag], answered: askedTwice('rag') }).status).toBe('undecided');
  expect(ofDki({ observed: { injectableMemories: 0 } })).toBe('undecided');
});

it('fails if turns do not add up to the total of the engine', () => {
  const closed = { warmUp: 9, turns: 2 * 43 + 2 * 12, prepared: 5, scoring: 30, checks: 40, measure: 0, unbooked: 0 };
  const books = (evaluatedTokens: typeof closed | null, items = 2) => {
    const plan = { items, withoutEvidence: 0, repeats: 1 };
    return checked({ probes: { profile: { ...runProbes.profile, evaluatedTokens } }, plan }).status;
  };
  expect(books(closed)).toBe('passed');
  expect(books(null)).toBe('passed');
  expect(books({ ...closed, unbooked: 1 })).toBe('failed');
  expect(books({ ...closed, turns: closed.turns + 1 })).toBe('failed');
  // An unfinished run lacks some turns.
  expect(books({ ...closed, turns: closed.turns + 1 }, 3)).toBe('passed');
});
