import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openParts } from '../../scripts/open-parts.ts';
import { replacing } from '../fixtures/replacing.ts';
import { askedTurns, nameOf, said, TurnsAtOnce } from '../fixtures/turns-at-once.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Checkpoint } from '../../src/engine/checkpoint.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import { KvStore, type StoredBlock } from '../../src/kv/kv-store.ts';
import { armRegistry } from '../../src/systems/arms/arm-registry.ts';
import type { BenchSystem } from '../../src/systems/contracts.ts';

let at: TurnsAtOnce;
beforeAll(async () => {
  at = await TurnsAtOnce.open();
});
afterAll(() => at[Symbol.asyncDispose]());

const [first, , , second] = askedTurns;

/** A system on a session and a store that are changed before it gets them. */
function systemOn(
  mode: string,
  {
    session = at.sessions[0]!,
    lies = (store) => store,
  }: {
    readonly session?: EngineSession;
    readonly lies?: (store: KvStore) => KvStore;
  },
): BenchSystem {
  const [arm] = armRegistry.named([mode], { alpha: 1, gatingThreshold: 0.7 });
  return arm!.open({
    ...openParts({ engine: at.engine, session }, openDatabase({ path: ':memory:' })),
    log: null,
    openStore: async (engine) => {
      const store = await KvStore.open(join(at.folder, `${mode} ${Math.random()}`), 2 ** 28, engine);
      return { store: lies(store), diskTiming: 'at-once' };
    },
  });
}

/** Gives what was found first, whatever is asked for. */
function confused(store: KvStore): KvStore {
  let checkpoint: Checkpoint | undefined;
  let block: StoredBlock | undefined;
  return replacing(store, {
    keepCheckpoint: async (...kept) => {
      const made = await store.keepCheckpoint(...kept);
      checkpoint ??= made;
      return made;
    },
    findCheckpoint: async (...asked) => checkpoint ?? store.findCheckpoint(...asked),
    findBlock: async (...asked) => (block ??= await store.findBlock(...asked)),
    keepBlock: async (userId, key, ...kept) => {
      await store.keepBlock(userId, key, ...kept);
      block ??= await store.findBlock(userId, key);
    },
  });
}

const rejected = (system: BenchSystem): unknown => {
  const { kvStore } = system.getStats();
  return (kvStore as { disk?: { rejected: number } }).disk?.rejected ?? (kvStore as { rejected: number }).rejected;
};

describe.each(['dki', 'rag-cached', 'dki-blocks', 'dki-parallel'])('%s', (mode) => {
  it('never uses what a store gives of other tokens', async () => {
    const turns = [first!, second!, askedTurns[4]!];
    const alone = await at.oneByOne(mode, turns);
    await using system = systemOn(mode, { lies: confused });
    for (const turn of turns) expect(said(await system.chat(turn))).toEqual(alone.get(nameOf(turn)));
    if (mode !== 'rag-cached') expect(rejected(system)).toBeGreaterThan(0);
  });

  it('computes again where an engine evaluated other tokens, and keeps nothing wrong', async () => {
    const alone = await at.oneByOne(mode, [first!]);
    const session = at.sessions[1]!;
    let lies = 1;
    const lying = replacing(session, {
      evaluate: (tokens, options) => session.evaluate(lies-- > 0 ? [...tokens.slice(0, -1), 5] : tokens, options),
    });
    await using system = systemOn(mode, { session: lying });
    for (let turn = 0; turn < 2; turn++) {
      expect(said(await system.chat(first!))).toEqual(alone.get(nameOf(first!)));
    }
    if (mode !== 'rag-cached') expect(rejected(system)).toBe(1);
  });
});

it('an engine that never evaluates what it is given is refused in one line', async () => {
  const session = at.sessions[2]!;
  const lying = replacing(session, {
    evaluate: (tokens, options) => session.evaluate([...tokens.slice(0, -1), 5], options),
  });
  await using system = systemOn('dki', { session: lying });
  await expect(system.chat(first!)).rejects.toMatchObject({
    code: 'bad-state',
    message: expect.stringContaining('other tokens') as string,
  });
  expect(system.getStats().kvStore).toMatchObject({ entries: 0 });
});

it('a checkpoint that an engine restores as another is rejected and computed again', async () => {
  const session = at.sessions[1]!;
  let lies = false;
  const lying = replacing(session, {
    restore: async (checkpoint, options) => {
      await session.restore(checkpoint, options);
      if (lies) await session.truncate(checkpoint.tokens.length - 1);
      lies = false;
    },
  });
  await using system = systemOn('dki', { session: lying });
  const answer = said(await system.chat(first!));
  lies = true;
  const again = await system.chat(first!);
  expect(said(again)).toEqual(answer);
  expect(again.trace.account.cache).toBe('miss');
  expect(rejected(system)).toBe(1);
});

it.each(['dki', 'rag-cached'])('%s answers first and keeps what it computed after that', async (mode) => {
  const session = at.sessions[0]!;
  const calls: string[] = [];
  const seen = replacing(session, {
    generate: async (...asked) => {
      const given = await session.generate(...asked);
      calls.push('answer');
      return given;
    },
  });
  const lies = (store: KvStore): KvStore =>
    replacing(store, {
      keepCheckpoint: async (...asked) => {
        calls.push('keep');
        return store.keepCheckpoint(...asked);
      },
    });
  await using system = systemOn(mode, { session: seen, lies });
  const alone = await at.oneByOne(mode, [first!]);
  expect(said(await system.chat(first!))).toEqual(alone.get(nameOf(first!)));
  expect(calls).toEqual(['answer', 'keep']);
  const again = await system.chat(first!);
  expect(again.tokens.evaluated).toBeLessThan(again.inputTokens);
});
