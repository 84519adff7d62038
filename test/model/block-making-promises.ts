import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { foundMemories, openParts, storeIn } from '../../scripts/open-parts.ts';
import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import type { EngineOpener } from '../../src/engine/engine-request.ts';
import { compareScores, type SequenceScore } from '../../src/engine/sequence-score.ts';
import { referenceCells } from '../../src/eval/run/prove/reference-cells.ts';
import type { PrefillRecord } from '../../src/store/records/prefill-record.ts';
import type { MemorySearchResult } from '../../src/retrieval/retriever.ts';
import { armRegistry } from '../../src/systems/arms/arm-registry.ts';
import type { BenchSystem, ChatRequest, ChatResponse } from '../../src/systems/contracts.ts';
import type { OpenEngine } from '../../src/systems/answer-turn.ts';
import { TestFolder } from './bench-fixture.ts';
import { memoriesOf, scoreBehind } from './dki-fixture.ts';

/** In ln p, with KV in 16-bit floats. */
const FLOOR = 0.03;
const two = memoriesOf('My dog is called Brenko.', 'My tea is Oolong.');
const three = [...two, ...memoriesOf('', '', 'I live in a house in Port Dral.').slice(2)];

type Blocks = Exclude<PrefillRecord, { readonly strategy: 'prefix' }>;

function blocksOf({ trace: { prefill } }: ChatResponse): Blocks {
  if (prefill === null || prefill.strategy === 'prefix') throw new Error('no blocks were injected');
  return prefill;
}

/** Promises of the settings of blocks, on any engine that gives cells and lets them share positions. */
export function blockMakingPromises(opener: EngineOpener, model: string): void {
  let folder: TestFolder;
  let opened: OpenEngine;
  let database: BenchDatabase;

  beforeAll(async () => {
    const engine = await opener.open({ model, sessions: 2, contextTokens: 1024 });
    opened = { engine, session: await engine.openSession('turns') };
  });
  afterAll(() => opened.engine[Symbol.asyncDispose]());
  beforeEach(() => {
    folder = new TestFolder();
    database = openDatabase({ path: folder.file('chat.sqlite') });
  });
  afterEach(() => {
    database.close();
    folder[Symbol.dispose]();
  });

  /** @param store arms that are given the same one find each other's KV */
  function opening(name: string, store = name): BenchSystem {
    const [arm] = armRegistry.named([name], { alpha: 1, gatingThreshold: 0 });
    const openStore = storeIn(folder.file(store.replace(/\W/g, '-')), 2 ** 26);
    return arm!.open({ ...openParts(opened, database), openStore });
  }

  const ask = (
    system: BenchSystem,
    memories: readonly MemorySearchResult[],
    history: ChatRequest['history'] = [],
  ): Promise<ChatResponse> =>
    system.chat({
      ...{ query: 'What is my dog called?', sessionId: 's', userId: 'ann', maxNewTokens: 2 },
      history,
      retrieved: foundMemories(memories),
    });

  async function scoreWith(name: string, memories: readonly MemorySearchResult[]): Promise<SequenceScore> {
    await using system = opening(name);
    await ask(system, memories);
    // From what was kept.
    const response = await ask(system, memories);
    expect(response.trace.account.cache).toBe('hit');
    return await scoreBehind(opened, response, ' Brenko');
  }

  async function difference(a: string, b: string, memories: readonly MemorySearchResult[]): Promise<number> {
    const { bitwiseEqual, largestDifference } = compareScores(
      await scoreWith(a, memories),
      await scoreWith(b, memories),
    );
    return bitwiseEqual ? 0 : Math.max(largestDifference, Number.MIN_VALUE);
  }

  /** The rounding by which the same tokens differ when they are cut elsewhere, on an engine whose cuts are not exact. */
  const rounding = (): number => (opened.engine.capabilities.exactCuts === 1 ? 0 : FLOOR);

  describe('@context=previous', () => {
    const previous = 'dki-blocks@context=previous';

    it('gives the prefix of two memories, and of three something between it and the blocks', async () => {
      expect(await difference(previous, 'dki', two)).toBeLessThanOrEqual(rounding());
      expect(await difference(previous, 'dki', three)).toBeGreaterThan(0);
      expect(await difference(previous, 'dki-blocks', three)).toBeGreaterThan(0);
    });

    it('builds a block anew behind another memory, and finds it behind the same', async () => {
      await using system = opening(previous);
      const [a, b, c] = three as [MemorySearchResult, MemorySearchResult, MemorySearchResult];
      const all = await ask(system, [a, b, c]);
      const [header, ...lines] = [blocksOf(all).header.tokens, ...blocksOf(all).blocks.map(({ tokens }) => tokens)] as [
        number,
        number,
        number,
        number,
      ];
      // The first two are evaluated again in front of the second and the third.
      expect(all.trace.account.built).toBe(header + 2 * lines[0] + 2 * lines[1] + lines[2]);
      expect((await ask(system, [a, b])).trace.account).toMatchObject({ cache: 'hit', built: 0 });
      const other = await ask(system, [a, c]);
      expect(blocksOf(other).blocks.map(({ origin }) => origin)).toEqual(['memory', 'computed']);
    });

    it('forgets a block with the memory that it saw', async () => {
      await using system = opening(previous);
      await ask(system, three);
      // Its own block, and that of the memory behind it.
      expect(await system.forgetMemory('ann', 'm1')).toBe(2);
      const origins = blocksOf(await ask(system, three)).blocks.map(({ origin }) => origin);
      expect(origins).toEqual(['computed', 'computed', 'memory']);
    });
  });

  describe('@context=none', () => {
    it('gives other cells than blocks behind the header, of one memory too', async () => {
      expect(await difference('dki-blocks@context=none', 'dki-blocks', two.slice(0, 1))).toBeGreaterThan(0);
    });
  });

  describe('@sink', () => {
    it('of all tokens in front of the memories gives blocks that see nothing else those of the header', async () => {
      await using system = opening('dki-blocks');
      const { tokens } = blocksOf(await ask(system, three)).header;
      const none = (sink: number) => `dki-blocks@context=none@sink=${sink}`;
      expect(await difference(none(tokens), 'dki-blocks', three)).toBeLessThanOrEqual(rounding());
      expect(await difference(none(tokens - 1), 'dki-blocks', three)).toBeGreaterThan(0);
      expect(await difference(none(1), 'dki-blocks@context=none', three)).toBeGreaterThan(0);
      await using more = opening(none(tokens + 1));
      await expect(ask(more, three)).rejects.toThrow(
        `@sink=${tokens + 1}: the prompt has ${tokens} tokens in front of its memories`,
      );
    });

    it('that is dropped fills no cell, and one that is kept so many in front of each block', async () => {
      const accounts = await Promise.all(
        ['dki-blocks', 'dki-blocks@sink=3', 'dki-blocks@sink=3:kept', 'dki-parallel@sink=3:kept'].map(async (name) => {
          await using system = opening(name);
          const { tokens, trace } = await ask(system, three);
          return { ...trace.account, resident: tokens.kvResident, evaluated: tokens.evaluated };
        }),
      );
      const [plain, dropped, kept, parallel] = accounts;
      expect(dropped).toMatchObject({ resident: plain!.resident, positions: plain!.positions });
      // Evaluated once for all blocks.
      expect([dropped, kept].map((account) => account!.built - plain!.built)).toEqual([3, 3]);
      expect(kept).toMatchObject({
        resident: plain!.resident + 9,
        positions: plain!.positions + 9,
        sharesPositions: false,
      });
      expect(parallel).toMatchObject({ resident: plain!.resident + 9, sharesPositions: true });
    });

    it('that is kept leaves history fewer tokens', async () => {
      const history = Array.from({ length: 60 }, (_, index) => ({
        role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: `This is message ${index} of them.`,
      }));
      const freeWith = async (name: string) => {
        await using system = opening(name);
        const { promptInfo, tokens } = await ask(system, three, history);
        expect(tokens.prompt + tokens.kvResident).toBeLessThanOrEqual(1024 - promptInfo.budget.reserveTokens);
        return promptInfo.historyMessages.length;
      };
      expect(await freeWith('dki-blocks@sink=12:kept')).toBeLessThan(await freeWith('dki-blocks@sink=12'));
    });
  });

  it('blocks that saw other tokens never share a key, in one store', async () => {
    const keysOf = async (name: string): Promise<string[]> => {
      await using system = opening(name, 'shared');
      const response = await ask(system, three);
      expect(response.trace.prefill).toMatchObject(name.includes('@') ? { making: expect.anything() as unknown } : {});
      return blocksOf(response).blocks.map(({ key }) => key);
    };
    const [plain, none, previous] = [
      await keysOf('dki-blocks'),
      await keysOf('dki-blocks@context=none'),
      await keysOf('dki-blocks@context=previous'),
    ];
    const [sink, kept] = [await keysOf('dki-blocks@sink=2'), await keysOf('dki-blocks@sink=2:kept')];
    // To keep shared tokens or not is a matter of joining.
    expect(kept).toEqual(sink);
    expect(new Set([...plain, ...none, ...previous, ...sink]).size).toBe(11);
    // The first memory has no other before it.
    expect(previous[0]).toBe(plain[0]);
  });

  describe('@positions=parallel', () => {
    it('gives the bits of dki-parallel', async () => {
      expect(await difference('dki-blocks@positions=parallel', 'dki-parallel', three)).toBe(0);
    });

    it('divides the keys of memories by the temperature, bit by bit where that is a power of two', async () => {
      const cellsOf = async (name: string) => {
        await using system = opening(name);
        const response = await ask(system, three);
        using state = await opened.session.exportCells({ start: 0, end: response.tokens.kvResident });
        return { cells: referenceCells(state), headerTokens: blocksOf(response).header.tokens };
      };
      const { cells: plain, headerTokens } = await cellsOf('dki-parallel');
      const { cells: cold } = await cellsOf('dki-parallel@temperature=0.5');
      expect(cold).toEqual(
        plain.map((cell, index) =>
          index < headerTokens ? cell : { ...cell, keys: cell.keys.map((keys) => keys.map((number) => 2 * number)) },
        ),
      );
      expect(await difference('dki-parallel@temperature=0.5', 'dki-parallel', three)).toBeGreaterThan(0);
      expect(await difference('dki-parallel@temperature=1', 'dki-parallel', three)).toBe(0);
    });
  });
}
