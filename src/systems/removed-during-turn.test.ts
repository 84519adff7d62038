import { afterAll, expect, it } from 'vitest';
import { openParts, storeIn } from '../../scripts/open-parts.ts';
import { fakeAdapter } from '../../test/fixtures/fake-engine/fake-adapter.ts';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { replacing } from '../../test/fixtures/replacing.ts';
import { KvStore } from '../kv/kv-disk-store.ts';
import { openDatabase } from '../store/database.ts';
import { armRegistry } from './arms/arm-registry.ts';
import type { BenchSystem } from './memory-system.ts';

const folder = folderOfEachTest();
const engine = await fakeAdapter.opener({}).open({ model: 'fake', sessions: 2 });
const sessions = [await engine.openSession('one'), await engine.openSession('two')] as const;
afterAll(() => engine[Symbol.asyncDispose]());

interface Hooks {
  /** Called at the end of each generation, and before a memory is deleted from the database. */
  generated?: (() => Promise<unknown>) | undefined;
  removing?: () => Promise<unknown>;
}

/** A system as another process would have it: with a connection of its own. */
function open(arm: string, place: 0 | 1, hooks: Hooks = {}): BenchSystem {
  const session = replacing(sessions[place], {
    generate: async (...given) => {
      const generation = await sessions[place].generate(...given);
      await hooks.generated?.();
      return generation;
    },
  });
  const parts = openParts({ engine, session }, openDatabase({ path: folder.file('memories.sqlite') }));
  const memories = replacing(parts.memories, {
    remove: async (...given) => {
      await hooks.removing?.();
      return parts.memories.remove(...given);
    },
  });
  const [found] = armRegistry.named([arm], { alpha: 1, gatingThreshold: 0 });
  return found!.open({ ...parts, memories, openStore: storeIn(folder.file('kv'), 2 ** 28) });
}

const ask = (system: BenchSystem, userId: string) =>
  system.chat({ query: 'Who?', userId, sessionId: `of ${userId}`, systemPrompt: 'Help.', maxNewTokens: 2 });

/** Number of entries on disk with a memory of `ann`. */
async function stored(memoryId: string): Promise<number> {
  return (await KvStore.open(folder.file('kv'), 2 ** 28, engine)).forgetMemory('ann', memoryId);
}

async function addMemories(system: BenchSystem): Promise<void> {
  await system.addMemory('s', 'My dog is Brenko.', { userId: 'ann', memoryId: 'm1' });
  await system.addMemory('s', 'I like tea.', { userId: 'ann', memoryId: 'm2' });
  await system.addMemory('b', 'I ski.', { userId: 'bob', memoryId: 'm3' });
}

/** Opens the systems of two processes; the first one adds the memories. */
async function openTwo(arm: string, hooks: Hooks) {
  const [one, two] = [open(arm, 0, hooks), open(arm, 1, hooks)];
  await addMemories(one);
  const close = async () => {
    await two[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
  };
  return { one, two, [Symbol.asyncDispose]: close };
}

/** Does something at the end of the next generation. */
function duringNextTurn(hooks: Hooks, act: () => Promise<void>): void {
  hooks.generated = () => {
    hooks.generated = undefined;
    return act();
  };
}

it.each(['rag', 'dki', 'dki-blocks'])(
  '%s stores nothing of a memory that another process removes during the turn',
  async (arm) => {
    const hooks: Hooks = {};
    await using processes = await openTwo(arm, hooks);
    const { one, two } = processes;
    duringNextTurn(hooks, async () => expect(await two.removeMemory('s', 'm1', 'ann')).toBe(true));
    expect((await ask(one, 'ann')).memoriesUsed).toHaveLength(2);
    // Writes all blocks that are due.
    await ask(one, 'bob');
    expect(await stored('m1')).toBe(0);
    expect((await ask(one, 'ann')).promptInfo.historyMessages).toEqual([]);
  },
);

it.each(['rag-cached', 'dki', 'dki-blocks'])('%s stores nothing of it when the turn fails', async (arm) => {
  const hooks: Hooks = {};
  await using processes = await openTwo(arm, hooks);
  const { one, two } = processes;
  duringNextTurn(hooks, async () => {
    await two.removeMemory('s', 'm1', 'ann');
    throw new Error('the display broke');
  });
  await expect(ask(one, 'ann')).rejects.toThrow('the display broke');
  await ask(one, 'bob');
  expect(await stored('m1')).toBe(0);
});

it.each(['rag', 'dki', 'dki-blocks'])('%s deletes what another process stores during the removal', async (arm) => {
  const hooks: Hooks = {};
  await using processes = await openTwo(arm, hooks);
  const { one, two } = processes;
  hooks.removing = () => ask(one, 'ann');
  expect(await two.removeMemory('s', 'm1', 'ann')).toBe(true);
  expect(await stored('m1')).toBe(0);
  expect((await ask(two, 'ann')).promptInfo.historyMessages).toEqual([]);
});

it.each(['rag', 'dki', 'dki-blocks'])(
  '%s answers from the text that another process has put in its place',
  async (arm) => {
    const hooks: Hooks = {};
    await using processes = await openTwo(arm, hooks);
    const { one, two } = processes;
    const texts = async () => (await ask(one, 'ann')).memoriesUsed.map(({ content }) => content);
    duringNextTurn(hooks, async () => {
      await two.addMemory('s', 'My dog is Dral.', { userId: 'ann', memoryId: 'm1' });
    });
    expect((await texts()).toSorted()).toEqual(['I like tea.', 'My dog is Brenko.']);
    await ask(one, 'bob');
    expect(await stored('m1')).toBe(0);
    expect((await texts()).toSorted()).toEqual(['I like tea.', 'My dog is Dral.']);
  },
);
