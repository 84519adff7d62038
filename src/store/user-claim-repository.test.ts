import { beforeEach, expect, test } from 'vitest';
import { newRun, turnOf } from '../../test/fixtures/stored-runs.ts';
import type { UserShare } from './records/worker-result-bundle.ts';
import { type BenchDatabase, openDatabase } from './database.ts';
import { RunRepository } from './run-repository.ts';
import { UserClaimRepository } from './user-claim-repository.ts';
import { TurnRepository } from './turn-repository.ts';

let database: BenchDatabase;
let users: UserClaimRepository;
let runId: string;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  ({ id: runId } = new RunRepository(database).create(newRun({ name: 'r', turns: [] })));
  users = new UserClaimRepository(database, runId);
  return () => database.close();
});

const ann = { userId: 'ann', position: 0, turns: 2 };
const bob = { userId: 'bob', position: 1, turns: 2 };

function shareOf(turnsMs: number): UserShare {
  const spent = { warmUp: 0, turns: turnsMs, scoring: 0, checks: 0, measure: 0 };
  const books = { spent, evaluatedTokens: null, modelMs: turnsMs, embedderMs: 0 };
  return { books, counts: { refusedCalls: {}, kvStores: {}, retriever: {} } };
}

test('a user belongs to one worker until the worker finishes or ends', () => {
  expect(users.unfinished()).toBeNull();
  expect(users.claim(ann, 'one')).toBe('claimed');
  expect(users.claim(ann, 'two')).toBe('taken');
  expect(users.claim(bob, 'two')).toBe('claimed');
  users.finish('ann', 'one', shareOf(3));
  expect(users.claim(ann, 'two')).toBe('finished');
  users.release('two');
  // Turns of an unfinished user may be stored: results must not count them.
  expect([...users.unfinished()!]).toEqual(['bob']);
  expect(users.claim(bob, 'one')).toBe('claimed');
  expect(users.claim(bob, 'two')).toBe('taken');
  // A finished user stays finished.
  users.release();
  expect([users.claim(ann, 'three'), users.claim(bob, 'three')]).toEqual(['finished', 'claimed']);
  expect(Object.fromEntries(users.places())).toEqual({ ann: 0, bob: 1 });
  expect([...users.unfinished()!]).toEqual(['bob']);
});

test('a worker that has lost a claim can neither write nor finish', () => {
  users.claim(ann, 'one');
  users.requireClaim('ann', 'one');
  users.release('one');
  users.claim(ann, 'two');
  expect(() => users.requireClaim('ann', 'one')).toThrow('another process has taken over user ann');
  expect(() => users.finish('ann', 'one', shareOf(1))).toThrow('another process has taken over user ann');
  users.finish('ann', 'two', shareOf(2));
  expect(() => users.requireClaim('ann', 'two')).toThrow('another process has taken over user ann');
});

test('the books of each share are taken once; a failed transaction leaves them', () => {
  users.claim(ann, 'one');
  users.claim(bob, 'two');
  users.finish('bob', 'two', shareOf(20));
  const failing = () => {
    users.takeShares();
    throw new RangeError('the record cannot be written');
  };
  expect(() => database.transaction(failing)).toThrow(RangeError);
  users.finish('ann', 'one', shareOf(10));
  const taken = () => users.takeShares().map(({ worker, share }) => `${worker} ${share.books.modelMs}`);
  expect(taken().sort()).toEqual(['one 10', 'two 20']);
  expect(taken().sort()).toEqual(['one 0', 'two 0']);
});

test('users of runs from before claims existed are finished if they have all turns', () => {
  const turns = new TurnRepository(database);
  for (const arm of ['rag', 'dki']) {
    turns.put({ runId, sessionId: 's' }, turnOf({ itemId: 'q', userId: 'ann', arm, right: true }));
  }
  turns.put({ runId, sessionId: 's' }, turnOf({ itemId: 'p', userId: 'bob', arm: 'rag', right: true }));
  expect([users.claim(ann, 'one'), users.claim(bob, 'one')]).toEqual(['finished', 'claimed']);
});
