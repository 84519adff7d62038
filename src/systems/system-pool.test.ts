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
      return 0;
    },
    removeMemory: async () => false,
    loadMemoriesFromDb: async () => 7,
    searchMemories: async () => [],
    getStats: () => ({ router: { place } }) as unknown as SystemStats,
    reset: async () => undefined,
    [Symbol.asyncDispose]: async () => {
      calls.push(`${place} closed`);
    },
  }));
  return { pool, calls, endTurn: () => turns.shift()!() };
}

const asked = (query: string) => ({ query, sessionId: 's' });

describe('a pool of systems', () => {
  it('gives each turn the first that is free, and lets others wait in their order', async () => {
    const { pool, calls, endTurn } = await poolOf(2);
    const turns = ['a', 'b', 'c', 'd'].map((query) => pool.chat(asked(query)));
    await sleep(1);
    expect(calls).toEqual(['0 chat a', '1 chat b']);
    endTurn();
    expect((await turns[0]!).text).toBe('0');
    await sleep(1);
    expect(calls).toEqual(['0 chat a', '1 chat b', '0 chat c']);
    endTurn();
    expect((await turns[1]!).text).toBe('1');
    await sleep(1);
    endTurn();
    endTurn();
    expect((await Promise.all(turns)).map(({ text }) => text)).toEqual(['0', '1', '0', '1']);
  });

  it('takes back a system whose turn failed', async () => {
    const { pool, endTurn } = await poolOf(1);
    const turn = pool.chat(asked('fail'));
    await sleep(1);
    endTurn();
    await expect(turn).rejects.toThrow('no answer');
    const next = pool.chat(asked('again'));
    await sleep(1);
    endTurn();
    expect((await next).text).toBe('0');
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

  it('takes two replacements at once, one after the other', async () => {
    const { pool, calls } = await poolOf(2);
    const options = { memoryId: 'm1', userId: 'ann' };
    await Promise.all([pool.addMemory('s', 'one', options), pool.addMemory('s', 'two', options)]);
    expect(calls.filter((call) => call.includes('forget'))).toHaveLength(4);
    expect(calls.filter((call) => call.includes('add'))).toHaveLength(2);
  });

  it('adds a memory of no name without waiting for more than one system', async () => {
    const { pool, calls, endTurn } = await poolOf(2);
    const turn = pool.chat(asked('a'));
    expect(await pool.addMemory('s', 'new')).toBe('new');
    expect(calls).toEqual(['0 chat a', '1 add new']);
    endTurn();
    await turn;
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
