import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openParts, foundMemories, storeIn } from '../../scripts/open-parts.ts';
import { auditLogs, conversations } from '../../src/store/schema.ts';
import { openDatabase, type BenchDatabase } from '../../src/store/database.ts';
import type { EngineOpener } from '../../src/engine/engine-request.ts';
import { compareScores, type SequenceScore } from '../../src/engine/sequence-score.ts';
import { writeBlockFile } from '../../src/kv/block-file.ts';
import type { MemorySearchResult } from '../../src/retrieval/retriever.ts';
import type { ChatRequest, ChatResponse } from '../../src/systems/contracts.ts';
import { DKISystem, type DKISystemParts } from '../../src/systems/dki-system.ts';
import { type JoinRecipe, parseRecipe } from '../../src/systems/prefill/join-recipe.ts';
import { RAGSystem } from '../../src/systems/rag-system.ts';
import type { OpenEngine, SystemParts } from '../../src/systems/answer-turn.ts';
import { TestFolder } from './bench-fixture.ts';
import { memoriesOf, scoreBehind } from './dki-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const QUERY = 'What is my dog called?';
const ANSWER = ' Brenko';
/** In ln p, with KV in 16-bit floats. */
const FLOOR = 0.03;
const STORE_BYTES = 2 ** 28;

const one = memoriesOf('My dog is called Brenko.');
const three = memoriesOf('My dog is called Brenko.', 'My favourite tea is Oolong.', 'I live in a house in Port Dral.');

const blocks = parseRecipe('blocks');
const parallel = parseRecipe('parallel');
const link = (tokens: number): JoinRecipe => parseRecipe(`link:${tokens}`);

/** Promises of the ways to join, the store behind them, gating and hybrid, on any engine that gives cells and checkpoints. */
export function dkiModePromises(opener: EngineOpener, model: string): void {
  const checkpoints = temporaryFolder();
  let folder: TestFolder;
  let opened: OpenEngine;
  let database: BenchDatabase;
  let parts: SystemParts;

  beforeAll(async () => {
    const engine = await opener.open({ model, sessions: 2, checkpointFolder: checkpoints.path, contextTokens: 1024 });
    opened = { engine, session: await engine.openSession('turns') };
  });
  afterAll(() => opened.engine[Symbol.asyncDispose]());

  beforeEach(() => {
    folder = new TestFolder();
    database = openDatabase({ path: folder.file('chat.sqlite') });
    parts = openParts(opened, database);
  });
  afterEach(() => {
    database.close();
    folder[Symbol.dispose]();
  });

  type Changes = Omit<DKISystemParts, keyof SystemParts | 'openStore'>;

  let stores = 0;
  function dki(changes: Changes, store = `store-${stores++}`): DKISystem {
    return new DKISystem({ ...parts, openStore: storeIn(folder.file(store), STORE_BYTES), ...changes });
  }

  let sessions = 0;
  const ask = (
    system: DKISystem | RAGSystem,
    memories: readonly MemorySearchResult[],
    changes: Partial<ChatRequest> = {},
  ): Promise<ChatResponse> =>
    system.chat({
      query: QUERY,
      sessionId: `s${sessions++}`,
      userId: 'ann',
      retrieved: foundMemories(memories),
      ...changes,
    });

  const askAndScore = async (...asked: Parameters<typeof ask>): Promise<SequenceScore> =>
    scoreBehind(opened, await ask(...asked), ANSWER);

  async function scoreWith(memories: readonly MemorySearchResult[], changes: Changes): Promise<SequenceScore> {
    await using system = dki(changes);
    return await askAndScore(system, memories);
  }

  /** The same tokens, cut elsewhere. */
  function expectSame(a: SequenceScore, b: SequenceScore): void {
    const { bitwiseEqual, largestDifference } = compareScores(a, b);
    if (opened.engine.capabilities.exactCuts !== null) expect(bitwiseEqual).toBe(true);
    else expect(largestDifference).toBeLessThan(FLOOR);
  }

  /** Every regular file below a folder that holds any of the texts, or is named for one. */
  function filesWith(path: string, ...texts: readonly string[]): string[] {
    return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const file = `${path}/${name}`;
      if (!statSync(file).isFile()) return false;
      const content = readFileSync(file, 'latin1');
      return texts.some((text) => name.includes(text) || content.includes(text));
    });
  }

  /** The α of the last answer, in its message and in the audit log. */
  function lastAlphas(): (number | null | undefined)[] {
    const message = database.query.select().from(conversations).all().at(-1);
    const entry = database.query.select().from(auditLogs).all().at(-1);
    return [message?.injectionAlpha, entry?.alpha];
  }

  const checkpointFiles = (): string[] => filesWith(checkpoints.path, '').sort();

  describe('the ways to join', () => {
    it('give the bits of the prefix where there is one block', async () => {
      const prefix = await scoreWith(one, { prefill: 'prefix' });
      for (const prefill of [blocks, parallel, link(4)]) {
        expect(compareScores(await scoreWith(one, { prefill }), prefix).bitwiseEqual).toBe(true);
      }
      const half = await scoreWith(one, { prefill: 'prefix', alpha: 0.5 });
      expect(compareScores(await scoreWith(one, { prefill: blocks, alpha: 0.5 }), half).bitwiseEqual).toBe(true);
      expect(compareScores(half, prefix).largestDifference).toBeGreaterThan(FLOOR);
    });

    it('give the prefix where every token is recomputed, the blocks where none is, and something else between', async () => {
      const prefix = await scoreWith(three, { prefill: 'prefix' });
      const joined = await scoreWith(three, { prefill: blocks });
      const all = await scoreWith(three, { prefill: parseRecipe('link:all') });
      expect(compareScores(all, prefix).largestDifference).toBeLessThan(FLOOR);
      expect(compareScores(await scoreWith(three, { prefill: link(1000) }), all).bitwiseEqual).toBe(true);
      expect(compareScores(await scoreWith(three, { prefill: link(0) }), joined).bitwiseEqual).toBe(true);
      expect(compareScores(joined, prefix).largestDifference).toBeGreaterThan(FLOOR);
      const recomputed = await scoreWith(three, { prefill: link(1) });
      expect(compareScores(recomputed, joined).bitwiseEqual).toBe(false);
      expect(compareScores(recomputed, prefix).bitwiseEqual).toBe(false);
    });

    it('build a block once, for any set and order in which it stands at the same label', async () => {
      await using system = dki({ prefill: blocks });
      const first = await ask(system, three);
      const second = await ask(system, three);
      expect([first, second].map(({ trace }) => trace.account.cache)).toEqual(['miss', 'hit']);
      expect(first.tokens.evaluated).toBe(first.tokens.prompt + first.tokens.kvResident);
      expect(second.tokens.evaluated).toBe(second.tokens.prompt);
      expect(second.text).toBe(first.text);
      expect(second.timings.kvCompute).toBe(0);
      const ids = first.promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
      expect(second.trace.sessionTokens).toEqual(ids);
      const { prefill } = second.trace;
      if (prefill === null || prefill.strategy === 'prefix') throw new Error('no blocks were injected');
      expect(prefill).toMatchObject({
        strategy: 'blocks',
        alpha: 1,
        blocks: [
          { memoryId: 'm1', origin: 'memory', computeMs: 0 },
          { memoryId: 'm2', origin: 'memory' },
          { memoryId: 'm3', origin: 'memory' },
        ],
      });
      const [a, b] = prefill.blocks;
      expect(b!.position).toBe(a!.position + a!.tokens);
      expect(system.getStats().kvStore).toMatchObject({
        memory: { hits: 4, entries: 4 },
        disk: { entries: 4, hits: 0 },
      });
    });

    it('find every block in the first turn where they are built when memories are added, at whatever place', async () => {
      const shown = [three[2]!, three[0]!];
      await using system = dki({ prefill: blocks, ahead: true });
      for (const { memoryId, content } of three) await system.addMemory('s', content, { userId: 'ann', memoryId });
      const first = await ask(system, shown);
      expect(first.trace.account.cache).toBe('hit');
      expect(first.tokens.evaluated).toBe(first.tokens.prompt);
      expect(first.timings.kvCompute).toBe(0);
      const tokensOf = (role: string) =>
        first.promptInfo.segments.filter((segment) => segment.role === role).flatMap(({ tokenIds }) => tokenIds).length;
      const header = tokensOf('bos') + tokensOf('system') + tokensOf('memoryHeader');
      // Two of three memories are shown, each once; all were built for five places.
      const [line] = await opened.engine.tokenize([{ text: `[1] ${three[1]!.content}\n`, as: 'text' }]);
      expect(first.trace.account.ahead!.tokens).toBe(header + 5 * (tokensOf('memory') + line!.length));

      const second = await ask(system, shown);
      expect(second.trace.account).not.toHaveProperty('ahead');
      await system.addMemory('s', 'My dog is called Zorka.', { userId: 'ann', memoryId: 'm1' });
      expect((await ask(system, shown)).trace.account.cache).toBe('miss');
      expect((await ask(system, shown, { userId: 'bob' })).trace.account.cache).toBe('miss');
      await using plain = dki({ prefill: blocks });
      const score = await askAndScore(plain, shown);
      expect(compareScores(await askAndScore(system, shown), score).bitwiseEqual).toBe(true);
    });

    it('evaluate the recomputed tokens in every turn, as many as the engine takes at least where one is asked for', async () => {
      await using system = dki({ prefill: link(1) });
      await ask(system, three);
      const { trace, tokens } = await ask(system, three);
      // The first block has seen all that precedes it.
      const recomputed = 2 * opened.engine.capabilities.leastTokens;
      expect(trace.account).toMatchObject({ recomputed, cache: 'hit' });
      expect(tokens.evaluated).toBe(tokens.prompt + recomputed);
    });

    it('fill a cell a token where blocks share positions', async () => {
      await using system = dki({ prefill: parallel });
      const { tokens, promptInfo, trace } = await ask(system, three);
      const lines = promptInfo.segments.filter(({ role }) => role === 'memory').map(({ tokenIds }) => tokenIds.length);
      const shared = lines.reduce((sum, length) => sum + length, 0) - Math.max(...lines);
      expect(shared).toBeGreaterThan(0);
      expect(tokens.positions).toBe(tokens.prompt + tokens.kvResident - shared);
      expect(trace.account.sharesPositions).toBe(true);
      const { engine, session } = opened;
      await using other = await engine.openSession('other');
      await other.restore(await session.checkpoint());
      await other.truncate(trace.prefixPositions);
      expect(other.cells).toBe(tokens.kvResident);
      expect(other.tokens).toHaveLength(tokens.kvResident - shared);
      // The window counts cells: as positions this would fit.
      const { contextTokens } = engine.info;
      const left = contextTokens - tokens.kvResident;
      const tooLong = Array.from({ length: left }, () => trace.suffix[0]!);
      await expect(other.evaluate(tooLong)).rejects.toThrow(
        `${contextTokens} tokens and 1 to follow do not fit into a window of ${contextTokens} tokens`,
      );
    });

    it('inject nothing where nothing is retrieved', async () => {
      await using system = dki({ prefill: blocks });
      const { tokens, trace } = await ask(system, []);
      expect(trace).toMatchObject({ prefill: null, account: { cache: 'bypass' } });
      expect(tokens).toMatchObject({ kvResident: 0, evaluated: tokens.prompt });
      expect(lastAlphas()).toEqual([null, null]);
      await using half = dki({ prefill: blocks, alpha: 0.5 });
      await ask(half, one);
      expect(lastAlphas()).toEqual([0.5, 0.5]);
    });
  });

  describe('an exact prefix', () => {
    it('that stays in the session is not loaded again for the same memories, and gives the same bits', async () => {
      await using resident = dki({ keepsSession: true });
      const originOf = ({ trace }: ChatResponse) => trace.prefill?.strategy === 'prefix' && trace.prefill.origin;
      expect(originOf(await ask(resident, three))).toBe('computed');
      const again = await ask(resident, three, { query: 'Where do I live?' });
      expect([originOf(again), again.trace.account.cache]).toEqual(['resident', 'hit']);
      expect(again.tokens.evaluated).toBe(again.tokens.prompt);
      expect(originOf(await ask(resident, one))).toBe('computed');
      const { hits, misses } = resident.getStats().kvStore!;
      // Once for each set of memories: what stays is not looked for.
      expect([hits, misses]).toEqual([0, 2]);
      await ask(resident, one);
      const score = await askAndScore(resident, one);
      expect(compareScores(score, await scoreWith(one, { prefill: 'prefix' })).bitwiseEqual).toBe(true);
      expect(originOf(await ask(resident, one, { userId: 'bob' }))).toBe('computed');
      await ask(resident, one);
      await resident.forgetMemory('ann', 'm1');
      expect(originOf(await ask(resident, one))).toBe('computed');
    });
  });

  describe('an exact prefix with scaled values', () => {
    it('is kept as it was before, byte by byte, and gives on a hit the bits of the miss', async () => {
      await using half = dki({ alpha: 0.5 }, 'half');
      const { promptInfo, trace } = await ask(half, three);
      const ids = promptInfo.segments.flatMap(({ tokenIds }) => tokenIds).slice(0, trace.prefixPositions);
      const [block] = filesWith(folder.file('half'), '').filter((name) => name.endsWith('.block'));
      const { session } = opened;
      await session.clear();
      await session.evaluate(ids);
      using cells = await session.exportCells();
      expect(readFileSync(folder.file(`half/${block}`)).equals(writeBlockFile(cells))).toBe(true);

      const hit = await ask(half, three);
      expect([hit.trace.account.cache, hit.tokens.evaluated]).toEqual(['hit', hit.tokens.prompt]);
      const score = await scoreBehind(opened, hit, ANSWER);
      const miss = await scoreWith(three, { alpha: 0.5 });
      expect(compareScores(score, miss).bitwiseEqual).toBe(true);
      expect(compareScores(score, await scoreWith(three, {})).largestDifference).toBeGreaterThan(FLOOR);
    });
  });

  describe('the store behind them', () => {
    it('gives a block to the next process from disk, and never to another user', async () => {
      await using first = dki({ prefill: blocks }, 'shared');
      const before = await ask(first, three);
      const stranger = await ask(first, three, { userId: 'bob' });
      expect(stranger.trace.account.cache).toBe('miss');
      expect(stranger.trace.account.built).toBe(before.trace.account.built);
      await using next = dki({ prefill: blocks }, 'shared');
      const after = await ask(next, three);
      expect(after.trace).toMatchObject({
        account: { cache: 'hit' },
        prefill: { blocks: [{ origin: 'disk' }, { origin: 'disk' }, { origin: 'disk' }] },
      });
      expect(await scoreBehind(opened, after, ANSWER)).toEqual(await askAndScore(first, three));
    });

    it('forgets a memory on all tiers, checkpoints of the engine included', async () => {
      await using system = dki({ prefill: link(2) }, 'forget');
      await using prefix = dki({ prefill: 'prefix' }, 'forget');
      const before = checkpointFiles();
      const { trace } = await ask(system, three);
      await ask(prefix, three);
      if (trace.prefill === null || trace.prefill.strategy === 'prefix') throw new Error('no blocks were injected');
      const { key } = trace.prefill.blocks.find(({ memoryId }) => memoryId === 'm2')!;
      const path = folder.file('forget');
      // The record and the bytes of the block; the records of the block and of the prefix.
      expect(filesWith(path, key)).toHaveLength(2);
      expect(filesWith(path, '"m2"')).toHaveLength(2);
      expect(checkpointFiles()).toHaveLength(before.length + 1);

      // Nothing was stored under that id: the KV goes all the same.
      expect(await system.removeMemory('s', 'm2', 'ann')).toBe(false);
      expect(await prefix.removeMemory('s', 'm2', 'ann')).toBe(false);
      expect(filesWith(path, key, '"m2"')).toEqual([]);
      expect(checkpointFiles()).toEqual(before);
      // The header, two blocks; the prefix of all three is gone.
      expect(system.getStats().kvStore).toMatchObject({ memory: { entries: 3 }, disk: { entries: 3 } });
      const again = await ask(system, three);
      expect(again.trace).toMatchObject({
        account: { cache: 'miss' },
        prefill: { blocks: [{ origin: 'memory' }, { origin: 'computed' }, { origin: 'memory' }] },
      });
      expect((await ask(prefix, three)).trace.account.cache).toBe('miss');
    });

    it('leaves no file of a turn behind', async () => {
      const before = checkpointFiles();
      const system = dki({ prefill: parallel }, 'closed');
      await ask(system, three);
      await system[Symbol.asyncDispose]();
      expect(checkpointFiles()).toEqual(before);
      // A record and the bytes of the header and of each block.
      expect(filesWith(folder.file('closed'), '')).toHaveLength(2 * 4);
    });

    it.each([
      ['cut', (path: string) => truncateSync(path, 100)],
      [
        'flipped',
        (path: string) => {
          const bytes = readFileSync(path);
          bytes[bytes.length - 5]! ^= 1;
          writeFileSync(path, bytes);
        },
      ],
    ])('computes again what was %s on disk, and counts it', async (_how, damage) => {
      const damageAll = (names: readonly string[], path: string) => names.forEach((name) => damage(`${path}/${name}`));
      await using first = dki({ prefill: blocks }, 'damage');
      const expected = await askAndScore(first, three);
      const path = folder.file('damage');
      const blockFiles = filesWith(path, '').filter((name) => name.endsWith('.block'));
      expect(blockFiles).toHaveLength(4);
      damageAll(blockFiles, path);
      await using second = dki({ prefill: blocks }, 'damage');
      const response = await ask(second, three);
      expect(response.trace.account.cache).toBe('miss');
      expect(second.getStats().kvStore).toMatchObject({ disk: { rejected: 4, hits: 0, entries: 4 } });
      expect(compareScores(await scoreBehind(opened, response, ANSWER), expected).bitwiseEqual).toBe(true);

      const before = checkpointFiles();
      await using prefix = dki({ prefill: 'prefix' }, 'damaged prefix');
      const whole = await askAndScore(prefix, three);
      damageAll(
        checkpointFiles().filter((name) => !before.includes(name)),
        checkpoints.path,
      );
      const computed = await ask(prefix, three);
      expect(computed.trace.account.cache).toBe('miss');
      expect(prefix.getStats().kvStore).toMatchObject({ rejected: 1, hits: 0, entries: 1 });
      expect(compareScores(await scoreBehind(opened, computed, ANSWER), whole).bitwiseEqual).toBe(true);
      expect((await ask(prefix, three)).trace.account.cache).toBe('hit');
      await prefix.reset();
      expect(checkpointFiles()).toEqual(before);
    });
  });

  describe('rag-cached', () => {
    it('gives the bits of text behind what it reused, though its store gave that up in the same turn, and forgets it', async () => {
      const before = checkpointFiles();
      await using cached = new RAGSystem({ ...parts, prefixCache: storeIn(folder.file('small'), 1) });
      await using plain = new RAGSystem(parts);
      await ask(cached, three, { query: 'What tea do I like?' });
      const response = await ask(cached, three);
      expect(response.tokens.kvResident).toBeGreaterThan(20);
      expect(response.trace.account.cache).toBe('bypass');
      expect(cached.getStats().kvStore).toMatchObject({ entries: 1, evicted: 1 });
      const reused = await scoreBehind(opened, response, ANSWER);
      expectSame(reused, await askAndScore(plain, three));
      await cached.addMemory('s', 'My favourite tea is Earl Grey.', { userId: 'ann', memoryId: 'm2' });
      expect(filesWith(folder.file('small'), '')).toEqual([]);
      expect(checkpointFiles()).toEqual(before);
    });
  });

  describe('gating', () => {
    it('injects above the threshold, scaled, and pays for the pass that measures the uncertainty', async () => {
      await using gated = dki({ gating: { kind: 'dual-factor', threshold: 0.5 } });
      const { trace, tokens, timings } = await ask(gated, three);
      const gating = trace.gating as Readonly<Record<'relevance' | 'uncertainty' | 'margin' | 'alpha', number>>;
      expect(gating).toMatchObject({ relevance: 0.9, threshold: 0.5, inject: true });
      expect(gating.margin).toBeCloseTo(0.1);
      const logit = 2 * (gating.uncertainty - 0.5) + 1.5 * (0.9 - 0.5) + 0.3 * 0.1;
      expect(gating.alpha).toBeCloseTo(1 / (1 + Math.exp(-logit)), 12);
      expect(trace.prefill).toMatchObject({ strategy: 'prefix', alpha: gating.alpha });
      expect(lastAlphas()).toEqual([gating.alpha, gating.alpha]);
      expect(trace.account.gate).toBeGreaterThan(10);
      expect(tokens.evaluated).toBe(tokens.prompt + tokens.kvResident + trace.account.gate);
      expect(tokens.evaluated).toBe(trace.account.evaluated);
      expect(timings.gate).toBeGreaterThan(0);
    });

    it('answers without memories below it', async () => {
      await using gated = dki({ gating: { kind: 'dual-factor', threshold: 0.95 } });
      await using without = new RAGSystem(parts);
      const response = await ask(gated, three);
      expect(response.memoriesUsed).toEqual([]);
      expect(lastAlphas()).toEqual([null, null]);
      expect(response.promptInfo.finalPrompt).toBe((await ask(without, [])).promptInfo.finalPrompt);
      expect(response.trace.account.gate).toBe(response.tokens.prompt);
      expect(response.tokens.evaluated).toBe(2 * response.tokens.prompt);
    });
  });

  describe('hybrid', () => {
    it('injects all preferences in front and gives the rest of what was retrieved as text behind them', async () => {
      const tea = three[1]!;
      const retrieved = [three[0]!, three[2]!];
      await using hybrid = dki({ preferencesOnly: true });
      await ask(hybrid, retrieved, { preferences: [tea] });
      const response = await ask(hybrid, retrieved, { preferences: [tea] });
      const { memoriesUsed, promptInfo, tokens, trace, metadata } = response;
      expect(memoriesUsed.map(({ memoryId }) => memoryId)).toEqual(['m2', 'm1', 'm3']);
      expect(metadata.injectionMode).toBe('dki-hybrid');
      expect(trace).toMatchObject({ account: { cache: 'hit' }, prefill: { memoryIds: ['m2'] } });
      const origins = promptInfo.segments.flatMap(({ role, origin }) => (role === 'memory' ? origin : []));
      expect(origins).toEqual(['injected', 'evaluated', 'evaluated']);
      expect(tokens.evaluated).toBe(tokens.prompt);
      const score = await scoreBehind(opened, response, ANSWER);
      await using rag = new RAGSystem(parts);
      const text = await ask(rag, [tea, ...retrieved]);
      expect(promptInfo.finalPrompt).toBe(text.promptInfo.finalPrompt);
      expectSame(score, await scoreBehind(opened, text, ANSWER));
    });

    it('injects the preferences that were added for the user, until they are removed or replaced', async () => {
      await using hybrid = dki({ preferencesOnly: true });
      const prefer = (memoryId: string, content: string, preference = true) =>
        hybrid.addMemory('s', content, { userId: 'ann', memoryId, metadata: { preference } });
      const used = async (userId = 'ann'): Promise<string[]> => {
        const { memoriesUsed } = await ask(hybrid, [three[0]!], { userId });
        return memoriesUsed.map(({ memoryId }) => memoryId);
      };
      for (const memoryId of ['tea', 'colour']) await prefer(memoryId, `My favourite is ${memoryId}.`);
      await prefer('fact', 'I live in Port Dral.', false);
      expect(await used()).toEqual(['tea', 'colour', 'm1']);
      expect(await used('bob')).toEqual(['m1']);
      await prefer('tea', 'I drink tea.', false);
      expect(await used()).toEqual(['colour', 'm1']);
      expect(await hybrid.removeMemory('s', 'colour', 'ann')).toBe(true);
      expect(await used()).toEqual(['m1']);
      const ofNobody = hybrid.addMemory('s', 'Tea, please.', { metadata: { preference: true } });
      await expect(ofNobody).rejects.toMatchObject({
        code: 'bad-data',
        message: expect.stringContaining('no userId') as string,
      });
    });
  });
}
