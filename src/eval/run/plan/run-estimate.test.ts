import { expect, test } from 'vitest';
import type { DatasetUser } from '../../../data/dataset.ts';
import { probeSize, probeTurns } from '../prove/isolation-probe.ts';
import { cheapestItem, estimateRun, type WarmUp } from './run-estimate.ts';

/** A user with so many memories of 50 characters, and so many questions about all of them. */
function user(userId: string, memories: number, questions: number): DatasetUser {
  const memory = { content: 'x'.repeat(50), createdAt: '2026-01-01T00:00:00Z' };
  const item = { query: '?'.repeat(50), askedAt: '2026-02-01T00:00:00Z', evidence: [`${userId}-m0`] };
  return {
    userId,
    memories: Array.from({ length: memories }, (_, index) => ({ ...memory, memoryId: `${userId}-m${index}` })),
    items: Array.from({ length: questions }, (_, index) => ({ ...item, itemId: `${userId}-q${index}` })),
  } as unknown as DatasetUser;
}

const settings = { topK: 5, repeats: 1, contextTokens: 4096, resumed: false, workers: 1 };
const turn = (retrieves: 'nothing' | 'retrieved' | 'all' | 'evidence', turnMs: number) => {
  const control = ['retrieved', 'evidence'].includes(retrieves) ? null : ('negative' as const);
  return { traits: { retrieves, control }, turnMs, scoringMs: 100 };
};
const warm = (owner: DatasetUser, ...turns: WarmUp['turns']): WarmUp => ({ user: owner, item: owner.items[0]!, turns });

test('the warm-up takes the question with the fewest memories', () => {
  const users = [user('a', 40, 2), user('b', 5, 1), user('c', 400, 3)];
  expect(cheapestItem(users)).toMatchObject({ user: 1, item: { itemId: 'b-q0' } });
  expect(cheapestItem([])).toBeUndefined();
});

test('turns and scoring are counted for every question that is left', () => {
  const users = [user('a', 10, 2), user('b', 10, 3)];
  const estimate = estimateRun(users, warm(users[0]!, turn('nothing', 900)), { ...settings, repeats: 2 });
  expect(estimate).toEqual({ users: 2, questions: 5, turns: 10, ms: 10_000, smaller: null });
});

test('an arm that is given the evidence skips items without evidence', () => {
  const [marked, unmarked] = [user('a', 10, 2), user('b', 10, 3)];
  const items = unmarked.items.map((item) => ({ ...item, answer: 'x', evidence: [], history: [] }));
  const warmUp = warm(marked, turn('nothing', 900), turn('evidence', 500));
  const estimate = estimateRun([marked, { ...unmarked, items }], warmUp, settings);
  expect(estimate).toMatchObject({ questions: 5, turns: 7, ms: 5 * 1000 + 2 * 600 });
});

test('an arm that shows all memories takes longer for a user who has more of them', () => {
  const [small, large] = [user('small', 10, 1), user('large', 100, 1)];
  const ms = (retrieves: 'all' | 'nothing') => estimateRun([large], warm(small, turn(retrieves, 850)), settings).ms;
  // 300 characters of template, 50 of the question, 500 and 5,000 of memories.
  expect(ms('all')).toBeCloseTo((850 * 5350) / 850 + 100, 6);
  expect(ms('nothing')).toBe(950);
});

test('a long run includes the isolation probe and suggests a smaller limit; a resumed run suggests none', () => {
  const users = Array.from({ length: 20 }, (_, index) => user(`u${index}`, 10, 12));
  const warmUp = warm(users[0]!, turn('retrieved', 9900), turn('nothing', 900));
  // The warm-up's prompt has 600 characters, one of the probe 550.
  const probeMs = (9900 * 550) / 600;
  const estimate = estimateRun(users, warmUp, settings);
  expect(estimate).toMatchObject({ users: 20, questions: 240, turns: 480 });
  expect(estimate.ms).toBeCloseTo(240 * 11_000 + 26 * probeMs, 0);
  expect(estimate.smaller).toEqual({ limit: 60, ms: 60 * 11_000 + 11 * probeMs });
  const resumed = estimateRun(users.slice(0, 1), warmUp, { ...settings, runQuestions: 240, resumed: true });
  expect(resumed.smaller).toBeNull();
  // The probe has the size of the whole run.
  expect(resumed.ms).toBeCloseTo(12 * 11_000 + 26 * probeMs, 0);
  const shard = estimateRun(users.slice(0, 10), warmUp, { ...settings, runQuestions: 240 });
  expect(shard.smaller).toEqual({ limit: 60, ms: 30 * 11_000 + 11 * probeMs });
});

test('the isolation probe scales with the questions of the run', () => {
  expect([12, 60, 239, 240, 480, 2000].map(probeTurns)).toEqual([11, 11, 14, 26, 38, 64]);
  // An owner who does not hear the secret must not decide the check.
  expect(probeSize(1)).toMatchObject({ owners: 3, strangers: 2, doubles: 1 });
});
