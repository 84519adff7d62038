import { expect, it } from 'vitest';
import { askedTwice, type Changes, checkInput } from '../../../../test/fixtures/check-input.ts';
import type { EngineAudit } from '../../../store/records/run-probes.ts';
import { reuse } from './reuse.ts';

const books = (answers: number, counters: number, reused: number | null = 64): EngineAudit => ({
  answers: { evaluated: answers, reused: 64 },
  counters: { evaluated: counters, reused },
});

function checked(ofCached: Changes | undefined, audit?: EngineAudit, ofRag: Changes = {}) {
  const cached = ofCached === undefined ? [] : askedTwice('rag-cached', ofCached);
  const probes = audit === undefined ? {} : { audit };
  return reuse(checkInput({ answered: [...askedTwice('rag', ofRag), ...cached], probes }));
}

/** Of a prompt of 43 tokens, two blocks of 16 should be found. */
const found = (evaluated: number): Changes => ({
  account: { evaluated: 11, resident: 32, found: { tokens: 32, blockTokens: 16 } },
  tokens: { evaluated },
});

it('passes where turns evaluated what prompts and the prefix cache leave, and the books agree', () => {
  expect(checked(found(11), books(100, 100))).toEqual({
    check: 'reuse',
    status: 'passed',
    evidence:
      '2 turns evaluated all that they say, 2 found 64 tokens of earlier prompts, within a block; ' +
      'of the server, its answers say 100 evaluated and 64 reused, its counters 100 and 64',
  });
  expect(checked(found(26), books(100, 100))!.status).toBe('passed');
  expect(checked(undefined, books(86, 86, null))!.status).toBe('passed');
});

it.each<[string, Changes | undefined, EngineAudit | undefined, Changes?]>([
  ['a turn that was to find nothing found something', found(11), books(9, 9), { tokens: { evaluated: 27 } }],
  ['that found a block less', found(27), books(9, 9)],
  ['that found a block more than it could', found(-5), books(9, 9)],
  ['counters that saw more than the answers say', found(11), books(9, 10)],
  ['counters that saw less reused', found(11), books(9, 9, 63)],
  ['a lie, whether or not there are counters', found(43), undefined],
])('fails for %s', (_, ofCached, audit, ofRag) => {
  expect(checked(ofCached, audit, ofRag)!.status).toBe('failed');
});

it('is undecided without counters, and is no check of an engine that has no such cache', () => {
  expect(checked(found(11))!.status).toBe('undecided');
  expect(checked(undefined)).toBeNull();
});
