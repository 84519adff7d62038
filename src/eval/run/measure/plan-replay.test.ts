import { expect, it } from 'vitest';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import type { Trace } from '../../../kv/traffic/trace.ts';
import { planReplay } from './plan-replay.ts';

const user = (userId: string, ...items: readonly string[]) =>
  ({ userId, items: items.map((itemId) => ({ itemId }) as DatasetItem) }) as unknown as DatasetUser;
const users = [user('a', 'a1', 'a2'), user('without questions'), user('b', 'b1')];

/** A trace of turns `time user conversation memories`. */
const trace = (idsOf: Trace['idsOf'], ...turns: readonly string[]): Trace => ({
  name: 't',
  headerTokens: 0,
  idsOf,
  turns: turns.map((words) => {
    const [time, userId, conversationId, ids] = words.split(' ') as [string, string, string, string];
    const segments = [...ids].map((id) => ({ id, tokens: 9 }));
    return { atMs: Number(time), userId, conversationId, segments, queryTokens: 0, answerTokens: 0 };
  }),
});
const planned = (given: Trace, limit = Infinity) =>
  planReplay(given, users, limit).plan.map(({ at, item, conversation }) => `${at} ${item.itemId} ${conversation}`);

it('asks for other memories by another question, and for the same again by the same', () => {
  const given = trace('text', '0 x c xy', '500 y d x', '1500 x c yx', '2000 x e xy', '2500 z f x', '3000 x e z');
  expect(planned(given)).toEqual(['0 a1 0', '0.5 b1 1', '1.5 a2 0', '2 a1 2', '2.5 a1 3', '3 a1 2']);
  expect(planReplay(given, users, Infinity).users).toBe(3);
  expect(planned(given, 2)).toEqual(['0 a1 0', '0.5 b1 1']);
});

it('takes conversations for users where the trace names none', () => {
  expect(planned(trace('prefix', '0 all c x', '1000 all d y', '2000 all c xz'))).toEqual([
    '0 a1 0',
    '1 b1 1',
    '2 a2 0',
  ]);
});

it('refuses turns that all arrive at once', () => {
  expect(() => planned(trace('text', '0 x c x', '0 x c y', '9 x c z'), 2)).toThrow(
    'trace t: its first 2 turns arrive at the same time',
  );
});
