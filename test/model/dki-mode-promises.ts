import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditLogs, conversations } from '../../src/store/schema.ts';
import type { EngineOpener } from '../../src/engine/engine-adapter.ts';
import { compareScores, type SequenceScore } from '../../src/engine/sequence-score.ts';
import type { ChatResponse } from '../../src/systems/memory-system.ts';
import { errorLike } from '../fixtures/error-like.ts';
import { blockMakingPromises } from './block-making-promises.ts';
import { blocksOf, DkiTurns, memoriesOf, scoreBehind } from './dki-fixture.ts';

/** In ln p, with KV in 16-bit floats. */
const FLOOR = 0.03;

const one = memoriesOf('My dog is called Brenko.');
const three = memoriesOf('My dog is called Brenko.', 'My favourite tea is Oolong.', 'I live in a house in Port Dral.');

/** Promises of the ways to join, the store behind them, gating and hybrid, on any engine that gives cells and checkpoints. */
export function dkiModePromises(opener: EngineOpener, model: string): void {
  const turns = new DkiTurns(opener, model);
  const ask: DkiTurns['ask'] = (...asked) => turns.ask(...asked);

  /** The same tokens, cut elsewhere. */
  function expectSame(a: SequenceScore, b: SequenceScore): void {
    const { bitwiseEqual, largestDifference } = compareScores(a, b);
    if (turns.opened.engine.capabilities.exactCuts !== null) expect(bitwiseEqual).toBe(true);
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
    const message = turns.database.query.select().from(conversations).all().at(-1);
    const entry = turns.database.query.select().from(auditLogs).all().at(-1);
    return [message?.injectionAlpha, entry?.alpha];
  }

  const checkpointFiles = (): string[] => filesWith(turns.checkpoints.path, '').sort();
  const cacheOf = ({ trace }: ChatResponse) => trace.account.cache;

  describe('the ways to join', () => {
    it('give the bits of the prefix where there is one block', async () => {
      for (const arm of ['dki-blocks', 'dki-parallel', 'dki-link:4'])
        expect(await turns.difference(arm, 'dki', one)).toBe(0);
      expect(await turns.difference('dki-blocks@alpha=0.5', 'dki@alpha=0.5', one)).toBe(0);
      expect(await turns.difference('dki@alpha=0.5', 'dki', one)).toBeGreaterThan(FLOOR);
    });

    it('give the prefix where every token is recomputed, the blocks where none is, and something else between', async () => {
      expect(await turns.difference('dki-link:all', 'dki', three)).toBeLessThan(FLOOR);
      expect(await turns.difference('dki-link:1000', 'dki-link:all', three)).toBe(0);
      expect(await turns.difference('dki-link:0', 'dki-blocks', three)).toBe(0);
      expect(await turns.difference('dki-blocks', 'dki', three)).toBeGreaterThan(FLOOR);
      for (const arm of ['dki', 'dki-blocks'])
        expect(await turns.difference('dki-link:1', arm, three)).toBeGreaterThan(0);
    });

    it('build a block once, for any set and order in which it stands at the same label', async () => {
      await using system = turns.open('dki-blocks');
      const first = await ask(system, three);
      const second = await ask(system, three);
      expect([first, second].map(cacheOf)).toEqual(['miss', 'hit']);
      expect(first.tokens.evaluated).toBe(first.tokens.prompt + first.tokens.kvResident);
      expect(second).toMatchObject({
        text: first.text,
        tokens: { evaluated: second.tokens.prompt },
        timings: { kvCompute: 0 },
        trace: { sessionTokens: first.promptInfo.segments.flatMap(({ tokenIds }) => tokenIds) },
      });
      const blocks = ['m1', 'm2', 'm3'].map((memoryId) => ({ memoryId, origin: 'memory', computeMs: 0 }));
      const prefill = blocksOf(second);
      expect(prefill).toMatchObject({ strategy: 'blocks', alpha: 1, blocks });
      const [a, b] = prefill.blocks;
      expect(b!.position).toBe(a!.position + a!.tokens);
      const kept = { memory: { hits: 4, entries: 4 }, disk: { entries: 4, hits: 0 } };
      expect(system.getStats().kvStore).toMatchObject(kept);
    });

    it('find every block in the first turn where they are built when memories are added, at whatever place', async () => {
      const shown = [three[2]!, three[0]!];
      await using system = turns.open('dki-blocks@built=ahead');
      for (const { memoryId, content } of three) await system.addMemory('s', content, { userId: 'ann', memoryId });
      const first = await ask(system, shown);
      expect(cacheOf(first)).toBe('hit');
      expect(first.tokens.evaluated).toBe(first.tokens.prompt);
      expect(first.timings.kvCompute).toBe(0);
      const tokensOf = (role: string) =>
        first.promptInfo.segments.filter((segment) => segment.role === role).flatMap(({ tokenIds }) => tokenIds).length;
      const header = tokensOf('bos') + tokensOf('system') + tokensOf('memoryHeader');
      // Two of three memories are shown, each once; all were built for five places.
      const [line] = await turns.opened.engine.tokenize([{ text: `[1] ${three[1]!.content}\n`, as: 'text' }]);
      expect(first.trace.account.ahead!.tokens).toBe(header + 5 * (tokensOf('memory') + line!.length));

      expect((await ask(system, shown)).trace.account).not.toHaveProperty('ahead');
      await system.addMemory('s', 'My dog is called Zorka.', { userId: 'ann', memoryId: 'm1' });
      expect(cacheOf(await ask(system, shown))).toBe('miss');
      expect(cacheOf(await ask(system, shown, { userId: 'bob' }))).toBe('miss');
      expect(await turns.difference('dki-blocks@built=ahead', 'dki-blocks', shown)).toBe(0);
    });

    it('evaluate the recomputed tokens in every turn, as many as the engine takes at least where one is asked for', async () => {
      await using system = turns.open('dki-link:1');
      await ask(system, three);
      const { trace, tokens } = await ask(system, three);
      // The first block has seen all that precedes it.
      const recomputed = 2 * turns.opened.engine.capabilities.leastTokens;
      expect(trace.account).toMatchObject({ recomputed, cache: 'hit' });
      expect(tokens.evaluated).toBe(tokens.prompt + recomputed);
    });

    it('fill a cell a token where blocks share positions', async () => {
      await using system = turns.open('dki-parallel');
      const { tokens, promptInfo, trace } = await ask(system, three);
      const lines = promptInfo.segments.filter(({ role }) => role === 'memory').map(({ tokenIds }) => tokenIds.length);
      const shared = lines.reduce((sum, length) => sum + length, 0) - Math.max(...lines);
      expect(shared).toBeGreaterThan(0);
      expect(tokens.positions).toBe(tokens.prompt + tokens.kvResident - shared);
      expect(trace.account.sharesPositions).toBe(true);
      const { engine, session } = turns.opened;
      await session.truncate(trace.prefixPositions);
      expect([session.cells, session.tokens.length]).toEqual([tokens.kvResident, tokens.kvResident - shared]);
      // The window counts cells: as positions this would fit.
      const { contextTokens } = engine.info;
      const tooLong = new Array<number>(contextTokens - tokens.kvResident).fill(trace.suffix[0]!);
      await expect(session.evaluate(tooLong)).rejects.toThrow(
        `${contextTokens} tokens and 1 more to come do not fit into a window of ${contextTokens} tokens`,
      );
    });

    it('inject nothing where nothing is retrieved', async () => {
      await using system = turns.open('dki-blocks');
      const { tokens, trace } = await ask(system, []);
      expect(trace).toMatchObject({ prefill: null, account: { cache: 'bypass' } });
      expect(tokens).toMatchObject({ kvResident: 0, evaluated: tokens.prompt });
      expect(lastAlphas()).toEqual([null, null]);
      await using half = turns.open('dki-blocks@alpha=0.5');
      await ask(half, one);
      expect(lastAlphas()).toEqual([0.5, 0.5]);
    });
  });

  blockMakingPromises(turns);

  it('an exact prefix that stays in the session is not loaded again for the same memories, and gives the same bits', async () => {
    await using resident = turns.open('dki-resident');
    const originOf = ({ trace }: ChatResponse) => trace.prefill?.strategy === 'prefix' && trace.prefill.origin;
    expect(originOf(await ask(resident, three))).toBe('computed');
    const again = await ask(resident, three, { query: 'Where do I live?' });
    expect([originOf(again), cacheOf(again)]).toEqual(['resident', 'hit']);
    expect(again.tokens.evaluated).toBe(again.tokens.prompt);
    expect(originOf(await ask(resident, one))).toBe('computed');
    // Once for each set of memories: what stays is not looked for.
    expect(resident.getStats().kvStore).toMatchObject({ hits: 0, misses: 2 });
    expect(originOf(await ask(resident, one, { userId: 'bob' }))).toBe('computed');
    await ask(resident, one);
    await resident.forgetMemory('ann', 'm1');
    expect(originOf(await ask(resident, one))).toBe('computed');
    expect(await turns.difference('dki-resident', 'dki', one)).toBe(0);
  });

  describe('the store behind them', () => {
    it('gives a block to the next process from disk, never to another user, and keeps no file of a turn', async () => {
      const checkpoints = checkpointFiles();
      await using first = turns.open('dki-blocks', { store: 'shared' });
      const before = await ask(first, three);
      const stranger = await ask(first, three, { userId: 'bob' });
      expect(cacheOf(stranger)).toBe('miss');
      expect(stranger.trace.account.built).toBe(before.trace.account.built);
      await using next = turns.open('dki-blocks', { store: 'shared' });
      const after = await ask(next, three);
      expect(cacheOf(after)).toBe('hit');
      expect(blocksOf(after).blocks.map(({ origin }) => origin)).toEqual(['disk', 'disk', 'disk']);
      expect(await scoreBehind(turns.opened, after)).toEqual(await turns.askAndScore(first, three));
      await first[Symbol.asyncDispose]();
      expect(checkpointFiles()).toEqual(checkpoints);
      // A record and the bytes of the header and of each block, of both users.
      expect(filesWith(turns.folder.file('shared'), '')).toHaveLength(2 * 2 * 4);
    });

    it('forgets a memory on all tiers, checkpoints of the engine included', async () => {
      await using system = turns.open('dki-link:2', { store: 'forget' });
      await using prefix = turns.open('dki', { store: 'forget' });
      const before = checkpointFiles();
      const { key } = blocksOf(await ask(system, three)).blocks.find(({ memoryId }) => memoryId === 'm2')!;
      await ask(prefix, three);
      const path = turns.folder.file('forget');
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
      expect(cacheOf(again)).toBe('miss');
      expect(blocksOf(again).blocks.map(({ origin }) => origin)).toEqual(['memory', 'computed', 'memory']);
      expect(cacheOf(await ask(prefix, three))).toBe('miss');
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
      await using first = turns.open('dki-blocks', { store: 'damage' });
      const expected = await turns.askAndScore(first, three);
      const path = turns.folder.file('damage');
      const blockFiles = filesWith(path, '').filter((name) => name.endsWith('.block'));
      expect(blockFiles).toHaveLength(4);
      damageAll(blockFiles, path);
      await using second = turns.open('dki-blocks', { store: 'damage' });
      const response = await ask(second, three);
      expect(cacheOf(response)).toBe('miss');
      expect(second.getStats().kvStore).toMatchObject({ disk: { rejected: 4, hits: 0, entries: 4 } });
      expect(compareScores(await scoreBehind(turns.opened, response), expected).bitwiseEqual).toBe(true);

      const before = checkpointFiles();
      await using prefix = turns.open('dki');
      const whole = await turns.askAndScore(prefix, three);
      const checkpoints = checkpointFiles().filter((name) => !before.includes(name));
      damageAll(checkpoints, turns.checkpoints.path);
      const computed = await ask(prefix, three);
      expect(cacheOf(computed)).toBe('miss');
      expect(prefix.getStats().kvStore).toMatchObject({ rejected: 1, hits: 0, entries: 1 });
      expect(compareScores(await scoreBehind(turns.opened, computed), whole).bitwiseEqual).toBe(true);
      expect(cacheOf(await ask(prefix, three))).toBe('hit');
      await prefix.reset();
      expect(checkpointFiles()).toEqual(before);
    });
  });

  it('rag-cached gives the bits of text behind what it reused, writes nothing, and forgets it', async () => {
    const before = checkpointFiles();
    await using cached = turns.open('rag-cached', { store: 'small' });
    await using plain = turns.open('rag');
    await ask(cached, three, { query: 'What tea do I like?' });
    const response = await ask(cached, three);
    expect(response.tokens.kvResident).toBeGreaterThan(20);
    expect(cacheOf(response)).toBe('bypass');
    const { entries } = cached.getStats().kvStore as { readonly entries: number };
    expect(entries).toBeGreaterThan(2);
    const reused = await scoreBehind(turns.opened, response);
    expectSame(reused, await turns.askAndScore(plain, three));
    await cached.addMemory('s', 'My favourite tea is Earl Grey.', { userId: 'ann', memoryId: 'm2' });
    expect(cached.getStats().kvStore).not.toMatchObject({ entries });
    const again = await ask(cached, three);
    expect(again.tokens.kvResident).toBeLessThan(response.tokens.kvResident);
    expect(filesWith(turns.folder.file('small'), '')).toEqual([]);
    expect(checkpointFiles()).toEqual(before);
  });

  describe('gating', () => {
    it('injects above the threshold, scaled, and pays for the pass that measures the uncertainty', async () => {
      await using gated = turns.open('dki-gated', { gatingThreshold: 0.5 });
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
      await using gated = turns.open('dki-gated', { gatingThreshold: 0.95 });
      await using without = turns.open('rag');
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
      const [dog, tea, house] = three;
      await using hybrid = turns.open('dki-hybrid');
      await ask(hybrid, [dog!, house!], { preferences: [tea!] });
      const response = await ask(hybrid, [dog!, house!], { preferences: [tea!] });
      const { memoriesUsed, promptInfo, tokens, trace, metadata } = response;
      expect(memoriesUsed.map(({ memoryId }) => memoryId)).toEqual(['m2', 'm1', 'm3']);
      expect(metadata.injectionMode).toBe('dki-hybrid');
      expect(trace).toMatchObject({ account: { cache: 'hit' }, prefill: { memoryIds: ['m2'] } });
      const origins = promptInfo.segments.flatMap(({ role, origin }) => (role === 'memory' ? origin : []));
      expect(origins).toEqual(['injected', 'evaluated', 'evaluated']);
      expect(tokens.evaluated).toBe(tokens.prompt);
      const score = await scoreBehind(turns.opened, response);
      await using rag = turns.open('rag');
      const text = await ask(rag, [tea!, dog!, house!]);
      expect(promptInfo.finalPrompt).toBe(text.promptInfo.finalPrompt);
      expectSame(score, await scoreBehind(turns.opened, text));
    });

    it('injects the preferences that were added for the user, until they are removed or replaced', async () => {
      await using hybrid = turns.open('dki-hybrid');
      const prefer = (memoryId: string, content: string, preference = true) =>
        hybrid.addMemory('s', content, { userId: 'ann', memoryId, metadata: { preference } });
      const used = async (userId = 'ann'): Promise<string[]> => {
        const { memoriesUsed } = await ask(hybrid, one, { userId });
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
      await expect(ofNobody).rejects.toMatchObject(errorLike('bad-data', 'no userId'));
    });
  });
}
