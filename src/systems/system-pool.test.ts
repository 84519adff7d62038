import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { BenchSystem, ChatResponse, SystemStats } from './contracts.ts';
import { SystemPool } from './system-pool.ts';

/** A pool of systems that answer with their place when they are told to, and a list of all calls. */
async function poolOf(size: number): Promise<{
  readonly pool: SystemPool;
  readonly calls: string[];
  /** Ends the oldest turn that is under way. */
  readonly endTurn: () => void;
}> {
  const calls: string[] = [];
  const turns: (() => void)[] = [];
  const pool = await SystemPool.open(size, async (place): Promise<BenchSystem> => ({
    chat: async ({ query }) => {
      calls.push(`${place} chat ${query}`);
      await new Promise<void>((resolve) => turns.push(resolve));
      if (query === 'fail') throw new Error('no answer');
      return { text: String(place) } as ChatResponse;
    },
    addMemory: async (_, content) => {
      calls.push(`${place} add ${content}`);
      return content;
    },
    forgetMemory: async (userId, memoryId) => {
      calls.push(`${place} forget ${userId} ${memoryId}`);
      return 1;
    },
    removeMemory: async (_, memoryId) => {
      calls.push(`${place} remove ${memoryId}`);
      return true;
    },
    loadMemoriesFromDb: async () => 7,
    searchMemories: async () => [],
    getStats: () => ({ router: { place } }) as unknown as SystemStats,
    reset: async () => {
      calls.push(`${place} reset`);
    },
    [Symbol.asyncDispose]: async () => {
      calls.push(`${place} closed`);
    },
  }));
  return { pool, calls, endTurn: () => turns.shift()!() };
}

const asked = (query: string, sessionId = query) => ({ query, sessionId });

describe('a pool of systems', () => {
  it('gives each turn a system that is free, turns of one conversation one after the other, and counts them', async () => {
    const { pool, calls, endTurn } = await poolOf(3);
    const turns = [asked('a', 's'), asked('b', 't'), asked('c', 's'), { ...asked('d', 's'), history: [] }].map(
      (request) => pool.chat(request),
    );
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

  it('replaces a memory when all turns under way have ended, and forgets it in every system first', async () => {
    const { pool, calls, endTurn } = await poolOf(2);
    const turn = pool.chat(asked('a'));
    const added = pool.addMemory('s', 'new', { memoryId: 'm1', userId: 'ann' });
    const later = pool.chat(asked('b'));
    await sleep(1);
    expect(calls).toEqual(['0 chat a']);
    endTurn();
    await turn;
    await sleep(1);
    endTurn();
    expect(await added).toBe('new');
    await later;
    const place = (call: RegExp) => calls.findIndex((made) => call.test(made));
    expect([place(/0 forget ann m1/), place(/1 forget ann m1/)].sort()).toEqual([1, 2]);
    expect(place(/add new/)).toBeGreaterThan(2);
    // The turn that came later waited as well.
    expect(place(/chat b/)).toBeGreaterThan(2);
  });

  it('removes a memory when no turn runs, its KV from every system first', async () => {
    const { pool, calls, endTurn } = await poolOf(2);
    const turn = pool.chat(asked('a'));
    const removed = pool.removeMemory('s', 'm1', 'ann');
    await sleep(1);
    expect(calls).toEqual(['0 chat a']);
    endTurn();
    await turn;
    expect(await removed).toBe(true);
    expect(calls.slice(1).sort()).toEqual(['0 forget ann m1', '1 forget ann m1', '1 remove m1'].sort());
    expect(await pool.forgetMemory('ann', 'm2')).toBe(2);
    await pool.reset();
    expect(calls.slice(-2).sort()).toEqual(['0 reset', '1 reset']);
  });

  it('adds a memory of no name without waiting for a turn', async () => {
    const { pool, calls, endTurn } = await poolOf(1);
    const turn = pool.chat(asked('a'));
    await sleep(1);
    expect(await pool.addMemory('s', 'new')).toBe('new');
    expect(calls).toEqual(['0 chat a', '0 add new']);
    endTurn();
    await turn;
  });

  it('closes when its turns have ended, and refuses those that wait', async () => {
    const { pool, calls, endTurn } = await poolOf(1);
    const turn = pool.chat(asked('a'));
    const waiting = expect(pool.chat(asked('b'))).rejects.toMatchObject({ code: 'no-session' });
    const closing = pool[Symbol.asyncDispose]();
    await waiting;
    expect(calls).toEqual(['0 chat a']);
    endTurn();
    await Promise.all([turn, closing]);
    expect(calls).toEqual(['0 chat a', '0 closed']);
  });

  it('asks the first for what all share, and closes all', async () => {
    const { pool, calls } = await poolOf(3);
    expect(await pool.loadMemoriesFromDb('s')).toBe(7);
    expect(await pool.searchMemories('q')).toEqual([]);
    expect(pool.getStats().router).toEqual({ place: 0 });
    await pool[Symbol.asyncDispose]();
    expect(calls).toEqual(['0 closed', '1 closed', '2 closed']);
  });

  it.each([0, -1, 1.5, Number.NaN])('of %d systems is refused', async (size) => {
    await expect(poolOf(size)).rejects.toThrow(RangeError);
  });
});
