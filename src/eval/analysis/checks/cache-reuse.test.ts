import { describe, expect, it } from 'vitest';
import { askedTwice, type Changes, changedTurn, checkInput, line } from '../../../../test/fixtures/check-input.ts';
import type { PromptTokenAudit } from '../../../store/records/prompt-token-audit.ts';
import type { CheckInput } from './check.ts';
import { reuse } from './cache-reuse.ts';

const books = (answers: number, counters: number, reused: number | null = 64): PromptTokenAudit => ({
  answers: { evaluated: answers, reused: 64 },
  counters: { evaluated: counters, reused },
});

function checked(ofCached: Changes | undefined, audit?: PromptTokenAudit, ofRag: Changes = {}) {
  const cached = ofCached === undefined ? [] : askedTwice('rag-cached', ofCached);
  const probes = audit === undefined ? {} : { audit };
  return reuse(checkInput({ answered: [...askedTwice('rag', ofRag), ...cached], probes }));
}

/** Of a prompt of 43 tokens, two blocks of 16 should be found. */
const found = (evaluated: number): Changes => ({
  account: { evaluated: 11, resident: 32, found: { tokens: 32, blockTokens: 16 } },
  tokens: { evaluated },
});

it('passes if turns evaluated what prompts and the prefix cache leave, and the counters agree', () => {
  expect(checked(found(11), books(100, 100))).toEqual({
    status: 'passed',
    evidence:
      '2 turns evaluated all that they say, 2 found 64 tokens of earlier prompts, within a block; ' +
      "the server's answers say 100 evaluated and 64 reused, its counters 100 and 64",
    detects: 'one token in 1 of 4 turns',
  });
  const { answers, counters } = books(100, 100);
  const shared = (external: number) => ({ answers: { ...answers, external: 48 }, counters: { ...counters, external } });
  expect(line(checked(found(11), shared(48))!)).toMatch(/; 48 of the reused came from outside the server$/);
  expect(checked(found(11), shared(32))!.status).toBe('failed');
  expect(checked(found(26), books(100, 100))!.status).toBe('passed');
  expect(checked(undefined, books(86, 86, null))!.status).toBe('passed');
});

it.each<[string, Changes | undefined, PromptTokenAudit | undefined, Changes?]>([
  ['a turn that should find nothing and found something', found(11), books(9, 9), { tokens: { evaluated: 27 } }],
  ['a turn that found a block less', found(27), books(9, 9)],
  ['a turn that found a block more than it could', found(-5), books(9, 9)],
  ['counters that saw more than the answers say', found(11), books(9, 10)],
  ['counters that saw less reused', found(11), books(9, 9, 63)],
  ['a wrong claim, also without counters', found(43), undefined],
])('fails for %s', (_, ofCached, audit, ofRag) => {
  expect(checked(ofCached, audit, ofRag)!.status).toBe('failed');
});

it('is undecided without counters, and null for an engine without such a cache', () => {
  expect(checked(found(11))!.status).toBe('undecided');
  expect(checked(undefined)).toBeNull();
});

describe('in this process', () => {
  const of = (arm: string, changes: Changes, place = {}) => [changedTurn(arm, changes, place)];
  const check = (answered: CheckInput['answered'], more: Parameters<typeof checkInput>[0] = {}) =>
    reuse(checkInput({ answered, ...more }));
  const shares = (sharedTokens: number, evaluated = 11) =>
    of('rag-cached', { observed: { sharedTokens }, account: { resident: 32 }, tokens: { evaluated } });

  it('a cache of prompts must find what they share, no less and no more', () => {
    expect(line(check(shares(32))!)).toMatch(/^passed: 1 turns found what earlier prompts share/);
    expect(line(check(shares(40))!)).toMatch(/^failed: 1 turns found less of earlier prompts than they share/);
    expect(line(check(shares(16))!)).toMatch(/^failed: 1 turns found more/);
  });

  it('a cache that had to drop prompts may find less', () => {
    const probes = { kvStores: { 'rag-cached': { evicted: 2, rejected: 0 } } };
    expect(check(shares(40), { probes })!.status).toBe('passed');
    expect(check(shares(16), { probes })!.status).toBe('failed');
  });

  it('work done ahead must be in the account', () => {
    const ahead = (tokens: number) =>
      of('dki-blocks', { observed: { aheadTokens: 90 }, account: { ahead: { tokens, ms: 1 } } });
    expect(check(ahead(90))!.status).toBe('passed');
    expect(line(check(ahead(45))!)).toMatch(/^failed: 1 turns have other tokens evaluated before them than they say/);
  });

  it('each repeat must find the KV of the first, unless KV is kept beyond the run', () => {
    const plan = { items: 1, withoutEvidence: 0, repeats: 2 };
    const twice = (cache: 'hit' | 'miss') => [
      ...of('dki', { account: { cache: 'miss', built: 31 } }),
      ...of('dki', { account: { cache, built: cache === 'hit' ? 0 : 31 } }, { repeat: 1 }),
    ];
    expect(check(twice('miss'), { plan })!.status).toBe('passed');
    expect(line(check(twice('hit'), { plan })!)).toMatch(/^failed: 1 turns found other KV than .* first repeat/);
    expect(check(twice('hit'), { plan: { ...plan, sharesKv: true } })!.status).toBe('passed');
  });
});
