import { afterAll, describe, expect, it } from 'vitest';
import { errorLike } from '../fixtures/error-like.ts';
import { replacing } from '../fixtures/replacing.ts';
import { askedTurns, nameOf, said, TurnsAtOnce } from '../fixtures/turns-at-once.ts';
import type { Checkpoint } from '../../src/engine/engine-session.ts';
import type { KvStore, StoredBlock } from '../../src/kv/kv-disk-store.ts';
import type { BenchSystem } from '../../src/systems/memory-system.ts';

const at = await TurnsAtOnce.open();
afterAll(() => at[Symbol.asyncDispose]());

const [first, , , second] = askedTurns;

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
    keepBlock: async (about, bytes) => {
      await store.keepBlock(about, bytes);
      block ??= await store.findBlock(about.userId, about.key);
    },
  });
}

const rejected = (system: BenchSystem): unknown => {
  const { kvStore } = system.getStats();
  return (kvStore as { disk?: { rejected: number } }).disk?.rejected ?? (kvStore as { rejected: number }).rejected;
};

describe.each(['dki', 'dki@alpha=0.5', 'rag-cached', 'dki-blocks', 'dki-parallel'])('%s', (mode) => {
  it('never uses what a store gives of other tokens', async () => {
    const turns = [first!, second!, askedTurns[4]!];
    const alone = await at.oneByOne(mode, turns);
    await using system = at.system(mode, { lies: confused });
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
    await using system = at.system(mode, { session: lying });
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
  await using system = at.system('dki', { session: lying });
  await expect(system.chat(first!)).rejects.toMatchObject(errorLike('bad-state', 'other tokens'));
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
  await using system = at.system('dki', { session: lying });
  const answer = said(await system.chat(first!));
  lies = true;
  const again = await system.chat(first!);
  expect(said(again)).toEqual(answer);
  expect(again.trace.account.cache).toBe('miss');
  expect(rejected(system)).toBe(1);
});
