import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { foundMemories, openParts, storeIn } from '../../scripts/open-parts.ts';
import { fakeAdapter } from '../../test/fixtures/fake-engine/fake-adapter.ts';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import { armRegistry } from './arms/arm-registry.ts';
import type { OpenEngine } from './answer-turn.ts';
import type { BenchSystem, ChatResponse } from './memory-system.ts';
import { RetrievalCounts } from './retrieval-counts.ts';
import { SystemPool } from './system-pool.ts';

const folder = folderOfEachTest();
let opened: OpenEngine;
let database: BenchDatabase;

beforeAll(async () => {
  const engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  opened = { engine, session: await engine.openSession('turns') };
});
afterAll(async () => opened.engine[Symbol.asyncDispose]());
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  return () => database.close();
});

const contents: Readonly<Record<string, string>> = {
  a: 'My dog is called Brenko.',
  b: 'I live in Plibo.',
  c: 'My friend is called Garpoox.',
  d: 'My car is blue.',
};

function openArm(name: string, retrievals = new RetrievalCounts()): BenchSystem {
  const parts = openParts(opened, database);
  const [arm] = armRegistry.named([name], { alpha: 1, gatingThreshold: 0.7 });
  return arm!.open({ ...parts, log: null, retrievals, openStore: storeIn(folder.file(name), 2 ** 24) });
}

/** Asks with memories that were retrieved, best first: `ca` for c and a. */
function ask(system: BenchSystem, ids: string, userId = 'ann'): Promise<ChatResponse> {
  const found = [...ids].map((memoryId) => ({ memoryId, content: contents[memoryId]!, score: 1, metadata: {} }));
  const request = { query: `Which of ${ids}?`, sessionId: userId, userId, maxNewTokens: 2, history: [] };
  return system.chat({ ...request, retrieved: foundMemories(found) });
}

const shown = async (...asked: Parameters<typeof ask>): Promise<string> =>
  (await ask(...asked)).memoriesUsed.map(({ memoryId }) => memoryId).join('');

describe.each(['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-blocks@context=previous'])('%s@order=stable', (arm) => {
  it('puts the memories first that a user retrieved most often, until they are removed or all is reset', async () => {
    await using system = openArm(`${arm}@order=stable`);
    expect(await shown(system, 'ca')).toBe('ca');
    expect(await shown(system, 'ab')).toBe('ab');
    expect(await shown(system, 'bca')).toBe('acb');
    expect(await shown(system, 'bca', 'bob')).toBe('bca');
    await system.forgetMemory('ann', 'a');
    expect(await shown(system, 'abc')).toBe('cba');
    await system.reset();
    expect(await shown(system, 'bca')).toBe('bca');
  });
});

it('lets a prefix cache find more than the order of retrieval does', async () => {
  const evaluated = async (arm: string): Promise<number> => {
    await using system = openArm(arm);
    let sum = 0;
    for (const ids of ['ab', 'cba', 'dab', 'bca']) sum += (await ask(system, ids)).tokens.evaluated;
    return sum;
  };
  expect(await evaluated('rag-cached@order=stable')).toBeLessThan((await evaluated('rag-cached')) - 20);
});

it('lets an exact prefix hit for a set of memories in any order of retrieval', async () => {
  const caches = async (arm: string): Promise<string[]> => {
    await using system = openArm(arm);
    return [(await ask(system, 'ab')).trace.account.cache, (await ask(system, 'ba')).trace.account.cache];
  };
  expect(await caches('dki')).toEqual(['miss', 'miss']);
  expect(await caches('dki@order=stable')).toEqual(['miss', 'hit']);
});

it('shares counts between all systems of a pool', async () => {
  const retrievals = new RetrievalCounts();
  await using pool = await SystemPool.open(2, async () => openArm('rag@order=stable', retrievals));
  await Promise.all([ask(pool, 'b'), ask(pool, 'b')]);
  expect(await shown(pool, 'ab')).toBe('ba');
  await pool.forgetMemory('ann', 'b');
  expect(await shown(pool, 'ba')).toBe('ab');
});

it.each([
  ['rag@order=stable@placement=rank', '@order and @placement both set the order of the memories'],
  ['oracle@order=stable', '@order is for arms that show retrieved memories one by one, and oracle does not'],
  ['summary@order=stable', 'and summary does not'],
  ['none@order=stable', 'and none does not'],
])('%s is refused', (name, why) => {
  const open = () => armRegistry.named([name], { alpha: 1, gatingThreshold: 0.7 });
  expect(open).toThrow(expect.objectContaining({ code: 'bad-option', hint: expect.any(String) }));
  expect(open).toThrow(why);
  expect(armRegistry.has('rag@order=rank')).toBe(false);
});
