import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../src/engine/checkpoint.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import { writeBlockFile } from '../../src/kv/block-file.ts';
import type { KvStore } from '../../src/kv/kv-store.ts';
import { kvTools } from '../../src/kv/kv-tools.ts';
import { replacing } from '../fixtures/replacing.ts';
import { type OtherParts, systemOn } from '../fixtures/system-on.ts';
import { askedTurns, nameOf, said, TurnsAtOnce } from '../fixtures/turns-at-once.ts';

let at: TurnsAtOnce;
beforeAll(async () => {
  at = await TurnsAtOnce.open();
});
afterAll(() => at[Symbol.asyncDispose]());

const [first, , , second] = askedTurns;

/** Every file of all stores and of the engine's checkpoints, with its size and the time of its last change. */
function files(): string[] {
  return readdirSync(at.folder, { recursive: true, encoding: 'utf8' })
    .map((name) => ({ name, stats: statSync(join(at.folder, name)) }))
    .filter(({ stats }) => stats.isFile())
    .map(({ name, stats }) => `${name} ${stats.size} ${stats.mtimeMs}`)
    .sort();
}

/** The files at the call, at the first token and when the turn has ended. */
async function filesOf(mode: string, parts: OtherParts = {}): Promise<Record<'call' | 'firstToken' | 'end', string[]>> {
  const session = parts.session ?? at.sessions[0]!;
  let firstToken: string[] | undefined;
  const seen = replacing(session, {
    generate: (suffix, limits, options) =>
      session.generate(suffix, { ...limits, onToken: () => (firstToken ??= files()) }, options),
  });
  await using system = systemOn(at, mode, { ...parts, session: seen });
  // Opens its store, and leaves blocks that memory has to give up for the next.
  await system.chat(second!);
  firstToken = undefined;
  const call = files();
  await system.chat(first!);
  return { call, firstToken: firstToken!, end: files() };
}

const prefixes = ['rag-cached', 'dki', 'dki@alpha=0.5', 'dki-resident', 'dki-resident@alpha=0.5', 'dki-gated'];
const joined = ['dki-blocks', 'dki-blocks@alpha=0.5', 'dki-parallel', 'dki-link:2', 'dki-random:.5'];

describe('a cache miss writes nothing before its first token, and its KV after that', () => {
  it.each([...prefixes, ...joined])('%s', async (mode) => {
    const { call, firstToken, end } = await filesOf(mode);
    expect(firstToken).toEqual(call);
    expect(end.length).toBeGreaterThan(call.length);
  });

  it.each(joined)('%s, with a memory that is too small for the blocks of a turn', async (mode) => {
    const { call, firstToken, end } = await filesOf(mode, { maxBytes: 2 ** 14, diskTiming: 'when-evicted' });
    expect(firstToken).toEqual(call);
    expect(end).not.toEqual(call);
  });
});

describe('a system that saves first is seen', () => {
  it('whose store of blocks writes what it is given', async () => {
    const openBlocks: typeof kvTools.openBlocks = (...asked) => {
      const blocks = kvTools.openBlocks(...asked);
      return replacing(blocks, {
        keep: (...kept) => {
          const state = blocks.keep(...kept);
          void blocks.settle();
          return state;
        },
      });
    };
    const { call, firstToken } = await filesOf('dki-blocks', { kv: { openBlocks } });
    expect(firstToken.length).toBeGreaterThan(call.length);
  });

  it('that makes a checkpoint of what it has evaluated', async () => {
    const session = at.sessions[1]!;
    const saving = replacing(session, {
      evaluate: async (...asked) => {
        await session.evaluate(...asked);
        await session.checkpoint();
      },
    });
    const { call, firstToken } = await filesOf('dki', { session: saving });
    expect(firstToken.length).toBeGreaterThan(call.length);
  });
});

/** Records that a system gave its store. */
interface Kept {
  readonly checkpoints: Checkpoint[];
  readonly blocks: Uint8Array[];
}

function keeping(kept: Kept): (store: KvStore) => KvStore {
  return (store) =>
    replacing(store, {
      keepCheckpoint: async (...asked) => {
        const checkpoint = await store.keepCheckpoint(...asked);
        kept.checkpoints.push(checkpoint);
        return checkpoint;
      },
      keepBlock: async (block, bytes) => {
        kept.blocks.push(bytes);
        await store.keepBlock(block, bytes);
      },
    });
}

/** The bytes of cells of a session, as a store keeps them. */
async function bytesOf(session: EngineSession, start: number): Promise<Uint8Array> {
  using cells = await session.exportCells({ start, end: session.cells });
  return writeBlockFile(cells);
}

describe('what is kept behind the answer', () => {
  it.each(['dki@alpha=0.5', 'dki-resident@alpha=0.5'])(
    'is, with scaled values, the very cells that are computed without: %s',
    async (mode) => {
      const [plain, scaled]: [Kept, Kept] = [
        { checkpoints: [], blocks: [] },
        { checkpoints: [], blocks: [] },
      ];
      await using dki = systemOn(at, 'dki', { lies: keeping(plain) });
      await dki.chat(first!);
      await using half = systemOn(at, mode, { lies: keeping(scaled) });
      const { trace } = await half.chat(first!);
      const [checkpoint, [bytes]] = [plain.checkpoints[0]!, scaled.blocks];
      expect([scaled.checkpoints, scaled.blocks.length, plain.blocks]).toEqual([[], 1, []]);
      const other = at.sessions[2]!;
      await other.restore(checkpoint);
      expect(Buffer.from(bytes!)).toEqual(Buffer.from(await bytesOf(other, 0)));
      expect(trace.prefill).toMatchObject({ origin: 'computed', sizeBytes: bytes!.length });
      // The session still holds the cells that answered.
      await other.importCells(await at.sessions[0]!.exportCells({ start: 0, end: trace.prefixPositions }));
      expect(Buffer.from(await bytesOf(other, 0))).not.toEqual(Buffer.from(bytes!));
      const again = await half.chat(first!);
      expect([again.trace.account.cache, said(again)]).toEqual(['hit', said(await half.chat(first!))]);
      expect(said(again)).toEqual((await at.oneByOne(mode, [first!])).get(nameOf(first!)));
    },
  );

  it('is, of blocks, the cells of each line as evaluated behind the header', async () => {
    const kept: Kept = { checkpoints: [], blocks: [] };
    await using system = systemOn(at, 'dki-blocks@alpha=0.5', { lies: keeping(kept) });
    const { promptInfo } = await system.chat(first!);
    const segments = promptInfo.segments.filter(({ origin }) => origin === 'injected');
    const header = segments.filter(({ role }) => role !== 'memory').flatMap(({ tokenIds }) => tokenIds);
    const session = at.sessions[2]!;
    await session.clear();
    await session.evaluate(header);
    const expected = [await bytesOf(session, 0)];
    for (const { tokenIds } of segments.filter(({ role }) => role === 'memory')) {
      await session.truncate(header.length);
      await session.evaluate(tokenIds);
      expected.push(await bytesOf(session, header.length));
    }
    expect(kept.blocks.map((bytes) => Buffer.from(bytes))).toEqual(expected.map((bytes) => Buffer.from(bytes)));
  });
});
