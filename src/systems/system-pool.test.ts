import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { BenchSystem, ChatResponse, SystemStats } from './memory-system.ts';
import { SystemPool } from './system-pool.ts';

/** A pool of systems that answer with their place when `endTurn` ends the oldest turn, and a list of all calls. */
async function openPool(size: number) {
  const calls: string[] = [];
  const turns: (() => void)[] = [];
  const pool = await SystemPool.open(size, async (place): Promise<BenchSystem> => {
    const noted = <T>(call: string, result: T): Promise<T> => {
      calls.push(`${place} ${call}`);
      return Promise.resolve(result);
    };
    return {
      chat: async ({ query }) => {
        await noted(`chat ${query}`, null);
        await new Promise<void>((resolve) => turns.push(resolve));
        return { text: String(place) } as ChatResponse;
      },
      addMemory: (_, content) => noted(`add ${content}`, content),
      memoryOwner: (_, __, userId) => ({ userId }),
      forgetMemory: (userId, memoryId) => noted(`forget ${userId} ${memoryId}`, 1),
      removeMemory: (_, memoryId) => noted(`remove ${memoryId}`, true),
      loadMemoriesFromDb: async () => 7,
      searchMemories: async () => [],
      getStats: () => ({ router: { place } }) as unknown as SystemStats,
      reset: () => noted('reset', undefined),
      [Symbol.asyncDispose]: () => noted('closed', undefined),
    };
  });
  return { pool, calls, endTurn: () => turns.shift()!() };
}

const ask = (query: string, sessionId = query) => ({ query, sessionId });

it('gives each turn a free system, runs turns of one conversation in sequence, and counts them', async () => {
  const { pool, calls, endTurn } = await openPool(3);
  const requests = [ask('a', 's'), ask('b', 't'), ask('c', 's'), { ...ask('d', 's'), history: [] }];
  const turns = requests.map((request) => pool.chat(request));
  await sleep(1);
  expect(calls).toEqual(['0 chat a', '1 chat b', '2 chat d']);
  expect(pool.getStats().turns).toEqual({ waiting: 1, running: 3 });
  endTurn();
  expect((await turns[0]!).text).toBe('0');
  await sleep(1);
  expect(calls.slice(3)).toEqual(['0 chat c']);
  for (let rest = 0; rest < 3; rest++) endTurn();
  expect((await Promise.all(turns)).map(({ text }) => text)).toEqual(['0', '1', '0', '2']);
  expect(pool.getStats().turns).toEqual({ waiting: 0, running: 0 });
});

it('replaces a memory when the turns before have ended, and forgets it in every system first', async () => {
  const { pool, calls, endTurn } = await openPool(2);
  const turn = pool.chat(ask('a'));
  const added = pool.addMemory('s', 'new', { memoryId: 'm1', userId: 'ann' });
  const later = pool.chat(ask('b'));
  await sleep(1);
  expect(calls).toEqual(['0 chat a']);
  endTurn();
  await turn;
  await sleep(1);
  endTurn();
  expect(await added).toBe('new');
  await later;
  expect(calls.slice(1, 3).sort()).toEqual(['0 forget ann m1', '1 forget ann m1']);
  // The turn that came later waited as well.
  expect(calls.slice(3).map((call) => call.slice(2))).toEqual(['add new', 'chat b']);
});

it('removes a memory when no turn runs, its KV from every system first', async () => {
  const { pool, calls, endTurn } = await openPool(2);
  const turn = pool.chat(ask('a'));
  const removed = pool.removeMemory('s', 'm1', 'ann');
  await sleep(1);
  expect(calls).toEqual(['0 chat a']);
  endTurn();
  await turn;
  expect(await removed).toBe(true);
  const whole = ['0 forget ann whole prompt', '1 forget ann whole prompt'];
  expect(calls.slice(1).sort()).toEqual(['0 forget ann m1', '1 forget ann m1', '1 remove m1', ...whole].sort());
  expect(await pool.forgetMemory('ann', 'm2')).toBe(2);
  await pool.reset();
  expect(calls.slice(-2).sort()).toEqual(['0 reset', '1 reset']);
});

it('adds a memory without an id at once; closing waits for running turns and refuses waiting ones', async () => {
  const { pool, calls, endTurn } = await openPool(1);
  const turn = pool.chat(ask('a'));
  await sleep(1);
  expect(await pool.addMemory('s', 'new')).toBe('new');
  const waiting = expect(pool.chat(ask('b'))).rejects.toMatchObject({ code: 'no-session' });
  const closing = pool[Symbol.asyncDispose]();
  await waiting;
  expect(calls).toEqual(['0 chat a', '0 add new']);
  endTurn();
  await Promise.all([turn, closing]);
  expect(calls.slice(2)).toEqual(['0 closed']);
});

it('asks the first system for what all share, and closes all', async () => {
  const { pool, calls } = await openPool(3);
  expect(await pool.loadMemoriesFromDb('s')).toBe(7);
  expect(await pool.searchMemories('q')).toEqual([]);
  expect(pool.getStats().router).toEqual({ place: 0 });
  await pool[Symbol.asyncDispose]();
  expect(calls).toEqual(['0 closed', '1 closed', '2 closed']);
});

it.each([0, -1, 1.5, Number.NaN])('a pool of %d systems is refused', async (size) => {
  await expect(openPool(size)).rejects.toThrow(RangeError);
});
