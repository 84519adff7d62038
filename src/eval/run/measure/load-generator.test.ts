import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import { readRunDatasets } from '../../../data/join-datasets.ts';
import type { Trace } from '../../../kv/traffic/trace.ts';
import type { ChatRequest, ChatResponse } from '../../../systems/memory-system.ts';
import { TurnQueue } from '../../../systems/turn-queue.ts';
import { CONVERSATION_TURNS, isSaturated, planLoad, planReplay, playLoad, type ServedTurn } from './load-generator.ts';

const SERVICE_MS = 10;
const signal = new AbortController().signal;
const data = await readRunDatasets({ dataset: [join(import.meta.dirname, '../../../../datasets/facts-en.jsonl')] });
const allUsers = data.parts[0]!.users;
const users = allUsers.slice(0, 6).map((user) => ({ ...user, items: user.items.slice(0, 5) }));

test('plans as many turns as there are questions, in conversations of five, in the order of arrival', () => {
  const plan = planLoad(allUsers, 0.5, 7);
  expect(plan).toHaveLength(allUsers.reduce((sum, { items }) => sum + items.length, 0));
  const conversations = [...Map.groupBy(plan, ({ conversation }) => conversation).values()];
  expect(new Set(conversations.map(({ length }) => length))).toEqual(new Set([CONVERSATION_TURNS]));
  expect(plan.map(({ at }) => at)).toEqual(plan.map(({ at }) => at).sort((a, b) => a - b));
  expect(plan[0]!.at).toBe(0);
});

test('one seed gives one plan, another seed another', () => {
  const ids = (seed: number): string[] => planLoad(allUsers, 0.5, seed).map(({ item }) => item.itemId);
  expect(ids(7)).toEqual(ids(7));
  expect(ids(8)).not.toEqual(ids(7));
});

test('turns arrive at one per mean gap on average, at irregular times', () => {
  const plan = planLoad(allUsers, 0.5, 7);
  const gaps = plan.slice(1).map(({ at }, place) => at - plan[place]!.at);
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  // A standard error of 400 gaps of a Poisson process is .05; conversations of five make it some .11.
  expect(mean).toBeGreaterThan(0.7);
  expect(mean).toBeLessThan(1.3);
  expect(gaps.filter((gap) => gap > 2 * mean).length).toBeGreaterThan(10);
});

test.each([0, 0.5, 1])('asks earlier questions of the conversation again in %s of the later turns', (recurrence) => {
  const plan = planLoad(allUsers, recurrence, 7);
  const conversations = Map.groupBy(plan, ({ conversation }) => conversation);
  const different = [...conversations.values()].map((own) => new Set(own.map(({ item }) => item.itemId)).size);
  const again = plan.length - different.reduce((sum, count) => sum + count, 0);
  expect(Math.abs(again / (plan.length - conversations.size) - recurrence)).toBeLessThan(0.08);
});

describe('the plan of a replayed trace', () => {
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

  test('asks for other memories by another question, and for the same again by the same', () => {
    const given = trace('text', '0 x c xy', '500 y d x', '1500 x c yx', '2000 x e xy', '2500 z f x', '3000 x e z');
    expect(planned(given)).toEqual(['0 a1 0', '0.5 b1 1', '1.5 a2 0', '2 a1 2', '2.5 a1 3', '3 a1 2']);
    expect(planReplay(given, users, Infinity).users).toBe(3);
    expect(planned(given, 2)).toEqual(['0 a1 0', '0.5 b1 1']);
  });

  test('takes conversations for users where the trace names none', () => {
    expect(planned(trace('prefix', '0 all c x', '1000 all d y', '2000 all c xz'))).toEqual([
      '0 a1 0',
      '1 b1 1',
      '2 a2 0',
    ]);
  });

  test('refuses turns that all arrive at once', () => {
    expect(() => planned(trace('text', '0 x c x', '0 x c y', '9 x c z'), 2)).toThrow(
      'trace t: its first 2 turns arrive at the same time',
    );
  });
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A system of one session that takes a fixed time for a turn, and once a longer one. */
function system({ stallAt = -1, failAt = -1 } = {}) {
  const queue = new TurnQueue([undefined]);
  const asked: ChatRequest[] = [];
  return {
    asked,
    chat: (request: ChatRequest): Promise<ChatResponse> =>
      queue.run(async () => {
        const place = asked.push(request) - 1;
        await new Promise((resolve) => setTimeout(resolve, place === stallAt ? 40 * SERVICE_MS : SERVICE_MS));
        if (place === failAt) throw new Error('out of order');
        request.onText?.('a');
        return { text: `answer ${request.query}` } as ChatResponse;
      }),
  };
}

/** Plays a load, and lets the time pass that it takes. */
async function play(served: ReturnType<typeof system>, rate: number, own = signal): Promise<ServedTurn[]> {
  const userId = (user: { readonly userId: string }): string => `serving/${user.userId}`;
  const played = playLoad(served, planLoad(users, 0.5, 7), { rate, clients: 1, userId, signal: own });
  await Promise.all([vi.runAllTimersAsync(), played]);
  return played;
}

const waitOf = ({ plannedMs, outcome }: ServedTurn): number =>
  'firstTokenMs' in outcome ? outcome.firstTokenMs - plannedMs : Number.NaN;

test('asks every turn once, under the id of its user, with what was said in its conversation before', async () => {
  const served = system();
  const turns = await play(served, 80);
  expect(turns).toHaveLength(30);
  expect(served.asked).toHaveLength(30);
  for (const { conversation } of new Set(turns.map(({ turn }) => turn))) {
    const own = served.asked.filter(({ sessionId }) => sessionId === `serving/${conversation}`);
    expect(own.map(({ history }) => history!.length)).toEqual([0, 2, 4, 6, 8]);
    expect(own[1]!.history).toEqual([
      { role: 'user', content: own[0]!.query },
      { role: 'assistant', content: `answer ${own[0]!.query}` },
    ]);
  }
  expect(served.asked.every(({ userId }) => userId!.startsWith('serving/fe'))).toBe(true);
});

test('a turn that stalls delays those that were planned after it', async () => {
  const [calm, stalled] = [await play(system(), 50), await play(system({ stallAt: 5 }), 50)];
  const late = (turns: ServedTurn[]): number => turns.filter((turn) => waitOf(turn) > 10 * SERVICE_MS).length;
  // 400 ms at 50 turns a second: some twenty arrive meanwhile, and are not left out.
  expect(late(stalled)).toBeGreaterThan(late(calm) + 8);
});

test('a rate above what is served saturates, one far below does not', async () => {
  expect(isSaturated(await play(system(), 25), 1)).toBe(false);
  expect(isSaturated(await play(system(), 400), 1)).toBe(true);
});

test('without a rate, `clients` conversations run at once, and the next begins when one ends', async () => {
  const served = system({ failAt: 0 });
  const turns = await play(served, Infinity);
  expect(turns).toHaveLength(30);
  const order = served.asked.map(({ sessionId }) => sessionId);
  expect(order).toEqual([...new Set(order)].flatMap((id) => Array<string>(5).fill(id)));
  // A turn that fails is kept as failed, and its conversation goes on without it.
  expect(turns.filter(({ outcome }) => 'error' in outcome)).toHaveLength(1);
  expect(served.asked[1]!.history).toEqual([]);
});

test('a turn may follow the last answer of its conversation after the planned gap', async () => {
  const userId = (): string => 'ann';
  const plan = planLoad(users, 0.5, 7).map((turn) => ({ ...turn, at: turn.at / 100 }));
  const played = playLoad(system(), plan, { rate: 1, afterAnswers: true, clients: 1, userId, signal });
  await vi.runAllTimersAsync();
  const turns = await played;
  expect(turns.map(({ plannedMs }) => plannedMs)).toEqual(
    turns.map(({ plannedMs }) => plannedMs).sort((a, b) => a - b),
  );
  const conversations = Map.groupBy(turns, ({ turn }) => turn.conversation);
  for (const [first, ...later] of conversations.values()) {
    expect(first!.plannedMs).toBe(first!.turn.at * 1000);
    let before = first!;
    for (const turn of later) {
      expect(turn.plannedMs - before.outcome.doneMs).toBeCloseTo((turn.turn.at - before.turn.at) * 1000);
      before = turn;
    }
  }
});

test('ends with the reason of the signal, asleep or not', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 20);
  await expect(play(system(), 0.01, controller.signal)).rejects.toThrow('enough');
});
