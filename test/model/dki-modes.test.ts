import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { presetModels } from '../../src/config/shipped-models.ts';
import { openDatabase, type BenchDatabase } from '../../src/db/database.ts';
import { StateStore } from '../../src/kv/state-store.ts';
import { LanguageModel } from '../../src/llm/language-model.ts';
import { compareScores, type SequenceScore } from '../../src/llm/token-probabilities.ts';
import type { MemorySearchResult } from '../../src/memory/memory-search-result.ts';
import { DKISystem, type DKISystemParts } from '../../src/systems/dki/dki-system.ts';
import { linkMode } from '../../src/systems/dki/injection-mode.ts';
import { RAGSystem } from '../../src/systems/rag/rag-system.ts';
import type { SystemParts } from '../../src/systems/system-parts.ts';
import { TestFolder } from './bench-fixture.ts';
import { always, memoriesOf, partsOf, scoreOf } from './dki-fixture.ts';

const QUERY = 'What is my dog called?';
const ANSWER = ' Brenko';
/** In ln p, with K/V in 16-bit floats. */
const FLOOR = 0.03;

const one = memoriesOf('My dog is called Brenko.');
const three = memoriesOf('My dog is called Brenko.', 'My favourite tea is Oolong.', 'I live in a house in Port Dral.');

let folder: TestFolder;
let model: LanguageModel;
let database: BenchDatabase;
let parts: SystemParts;

beforeAll(async () => {
  model = await LanguageModel.load({ modelPath: presetModels.model, sequences: 4 });
});
afterAll(async () => model.dispose());

beforeEach(() => {
  folder = new TestFolder();
  database = openDatabase({ path: folder.file('chat.sqlite') });
  parts = partsOf(model, database);
});
afterEach(() => {
  database.close();
  folder[Symbol.dispose]();
});

type More = Omit<DKISystemParts, keyof SystemParts | 'store'>;

let stores = 0;
function dki(memories: readonly MemorySearchResult[], more: More, store = states(`store-${stores++}`)): DKISystem {
  return new DKISystem({ ...parts, recall: always(memories), store, ...more });
}

function states(name: string): StateStore {
  return new StateStore(folder.file(name), 2 ** 28);
}

let sessions = 0;
const ask = (system: DKISystem | RAGSystem, userId = 'ann') =>
  system.chat({ query: QUERY, sessionId: `s${sessions++}`, userId });

async function scoreWith(memories: readonly MemorySearchResult[], more: More): Promise<SequenceScore> {
  await using system = dki(memories, more);
  await ask(system);
  return await scoreOf(model, system, ANSWER);
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

describe('the ways to join', () => {
  it('give the bits of the prefix where there is one block', async () => {
    const prefix = await scoreWith(one, { mode: 'prefix' });
    for (const mode of ['blocks', 'parallel', linkMode(4)] as const) {
      expect(compareScores(await scoreWith(one, { mode }), prefix).bitwiseEqual).toBe(true);
    }
    const half = await scoreWith(one, { mode: 'prefix', alpha: 0.5 });
    expect(compareScores(await scoreWith(one, { mode: 'blocks', alpha: 0.5 }), half).bitwiseEqual).toBe(true);
    expect(compareScores(half, prefix).largestDifference).toBeGreaterThan(FLOOR);
  });

  it('give the prefix where every token is linked, the blocks where none is, and something else between', async () => {
    const prefix = await scoreWith(three, { mode: 'prefix' });
    const blocks = await scoreWith(three, { mode: 'blocks' });
    expect(compareScores(await scoreWith(three, { mode: linkMode(1000) }), prefix).largestDifference).toBeLessThan(
      FLOOR,
    );
    expect(compareScores(await scoreWith(three, { mode: linkMode(0) }), blocks).bitwiseEqual).toBe(true);
    expect(compareScores(blocks, prefix).largestDifference).toBeGreaterThan(FLOOR);
    const linked = await scoreWith(three, { mode: linkMode(1) });
    expect(compareScores(linked, blocks).bitwiseEqual).toBe(false);
    expect(compareScores(linked, prefix).bitwiseEqual).toBe(false);
  });

  it('build a block once, for any set and order in which it stands at the same label', async () => {
    await using system = dki(three, { mode: 'blocks' });
    const first = await ask(system);
    const second = await ask(system);
    expect([first.metadata['reuse'], second.metadata['reuse']]).toEqual(['new', 'seen']);
    expect(first.tokens.evaluated).toBe(first.tokens.prompt + first.tokens.kvResident);
    expect(second.tokens.evaluated).toBe(second.tokens.prompt);
    expect(second.text).toBe(first.text);
    expect(second.timings.kvCompute).toBe(0);
    const ids = first.promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
    expect(second.metadata['sequenceTokenIds']).toEqual(ids);
    const kv = second.metadata['kv'] as { readonly blocks: readonly { tokens: number; position: number }[] };
    expect(kv).toMatchObject({
      mode: 'blocks',
      alpha: 1,
      blocks: [
        { memoryId: 'm1', origin: 'memory', computeMs: 0 },
        { memoryId: 'm2', origin: 'memory' },
        { memoryId: 'm3', origin: 'memory' },
      ],
    });
    const [a, b] = kv.blocks;
    expect(b!.position).toBe(a!.position + a!.tokens);
    expect(system.getStats().kvStore).toMatchObject({ memory: { hits: 4, entries: 4 }, disk: { entries: 4, hits: 0 } });
  });

  it('find every block in the first turn where they are built when memories are added, at whatever place', async () => {
    await using system = dki([three[2]!, three[0]!], { mode: 'blocks', ahead: true });
    for (const { memoryId, content } of three) await system.addMemory('s', content, { userId: 'ann', memoryId });
    const first = await ask(system);
    expect(first.metadata['reuse']).toBe('seen');
    expect(first.tokens.evaluated).toBe(first.tokens.prompt);
    expect(first.timings.kvCompute).toBe(0);
    const tokensOf = (role: string) =>
      first.promptInfo.segments.filter((one) => one.role === role).flatMap(({ tokenIds }) => tokenIds).length;
    const header = tokensOf('bos') + tokensOf('system') + tokensOf('memoryHeader');
    // Two of three memories are shown, each once; all were built for five places.
    const ahead = first.metadata['ahead'] as { readonly tokens: number };
    const line = model.tokenizeText(`[1] ${three[1]!.content}\n`).length;
    expect(ahead.tokens).toBe(header + 5 * (tokensOf('memory') + line));

    const second = await ask(system);
    expect(second.metadata).not.toHaveProperty('ahead');
    await system.addMemory('s', 'My dog is called Zorka.', { userId: 'ann', memoryId: 'm1' });
    expect((await ask(system)).metadata['reuse']).toBe('new');
    expect((await ask(system, 'bob')).metadata['reuse']).toBe('new');
    await using plain = dki([three[2]!, three[0]!], { mode: 'blocks' });
    await ask(plain);
    const score = await scoreOf(model, plain, ANSWER);
    await ask(system);
    expect(compareScores(await scoreOf(model, system, ANSWER), score).bitwiseEqual).toBe(true);
  });

  it('evaluate the link tokens in every turn, two where one is asked for', async () => {
    await using system = dki(three, { mode: linkMode(1) });
    await ask(system);
    const seen = await ask(system);
    // The first block has seen all that precedes it.
    expect(seen.metadata['linkTokens']).toBe(4);
    expect(seen.metadata['reuse']).toBe('seen');
    expect(seen.tokens.evaluated).toBe(seen.tokens.prompt + 4);
  });

  it('fill a cell a token where blocks share positions', async () => {
    await using system = dki(three, { mode: 'parallel' });
    const { tokens, promptInfo } = await ask(system);
    const lines = promptInfo.segments.filter(({ role }) => role === 'memory').map(({ tokenIds }) => tokenIds.length);
    const shared = lines.reduce((sum, length) => sum + length, 0) - Math.max(...lines);
    expect(shared).toBeGreaterThan(0);
    expect(tokens.positions).toBe(tokens.prompt + tokens.kvResident - shared);
    await using sequence = model.openSequence();
    await system.replay(sequence);
    expect(sequence.cells).toBe(tokens.kvResident);
    expect(sequence.nextPosition).toBe(tokens.kvResident - shared);
    // The window counts cells: as positions this would fit.
    const room = model.info.contextTokens - tokens.kvResident;
    const tooLong = model.tokenizeText(' a'.repeat(room + 2)).slice(0, room);
    await expect(sequence.evaluate(tooLong)).rejects.toThrow(
      `${model.info.contextTokens} tokens and 1 to follow do not fit into a window of ${model.info.contextTokens} tokens`,
    );
  });

  it('inject nothing where nothing is recalled', async () => {
    await using system = dki([], { mode: 'blocks' });
    const { tokens, metadata } = await ask(system);
    expect(metadata['reuse']).toBe('none');
    expect(tokens).toMatchObject({ kvResident: 0, evaluated: tokens.prompt });
  });
});

describe('the store behind them', () => {
  it('gives a block to the next process from disk, and never to another user', async () => {
    await using first = dki(three, { mode: 'blocks' }, states('shared'));
    const before = await ask(first);
    const stranger = await ask(first, 'bob');
    expect(stranger.metadata['reuse']).toBe('new');
    expect(stranger.metadata['builtTokens']).toBe(before.metadata['builtTokens']);
    await using next = dki(three, { mode: 'blocks' }, states('shared'));
    const after = await ask(next);
    expect(after.metadata).toMatchObject({ reuse: 'seen', kv: { blocks: [{ origin: 'disk' }, {}, {}] } });
    expect(await scoreOf(model, next, ANSWER)).toEqual(await ask(first).then(() => scoreOf(model, first, ANSWER)));
  });

  it('forgets a memory on all tiers, the file of the last turn included', async () => {
    const store = states('forget');
    await using system = dki(three, { mode: linkMode(2) }, store);
    await using prefix = dki(three, { mode: 'prefix' }, store);
    const { metadata } = await ask(system);
    await ask(prefix);
    const kv = metadata['kv'] as { readonly blocks: readonly { readonly memoryId: string; readonly key: string }[] };
    const { key } = kv.blocks.find(({ memoryId }) => memoryId === 'm2')!;
    const path = folder.file('forget');
    expect(filesWith(path, key)).toHaveLength(2);
    expect(filesWith(path, '"m2"')).toHaveLength(2);
    expect(filesWith(path, 'scratch')).toHaveLength(2);

    // Nothing was stored under that id: the K/V goes all the same.
    expect(await system.removeMemory('s', 'm2', 'ann')).toBe(false);
    expect(await prefix.removeMemory('s', 'm2', 'ann')).toBe(false);
    expect(filesWith(path, key, '"m2"', 'scratch')).toEqual([]);
    // The header, two blocks; the prefix of all three is gone.
    expect(system.getStats().kvStore).toMatchObject({ memory: { entries: 3 }, disk: { entries: 3 } });
    const again = await ask(system);
    expect(again.metadata).toMatchObject({
      reuse: 'new',
      kv: { blocks: [{ origin: 'memory' }, { origin: 'computed' }, { origin: 'memory' }] },
    });
    expect((await ask(prefix)).metadata['reuse']).toBe('new');
  });

  it('leaves no file of a turn behind when it is closed', async () => {
    const system = dki(three, { mode: 'parallel' }, states('closed'));
    await ask(system);
    expect(filesWith(folder.file('closed'), 'scratch')).toHaveLength(1);
    await system[Symbol.asyncDispose]();
    expect(filesWith(folder.file('closed'), 'scratch')).toEqual([]);
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
  ])('computes a block again that was %s on disk, and counts it', async (_, damage) => {
    await using first = dki(three, { mode: 'blocks' }, states('damage'));
    await ask(first);
    const expected = await scoreOf(model, first, ANSWER);
    for (const name of readdirSync(folder.file('damage'), { recursive: true, encoding: 'utf8' })) {
      if (name.endsWith('.state')) damage(`${folder.file('damage')}/${name}`);
    }
    const store = states('damage');
    await using second = dki(three, { mode: 'blocks' }, store);
    expect((await ask(second)).metadata['reuse']).toBe('new');
    expect(store.stats()).toMatchObject({ rejected: 4, hits: 0, entries: 4 });
    expect(compareScores(await scoreOf(model, second, ANSWER), expected).bitwiseEqual).toBe(true);
  });
});

describe('rag-cached', () => {
  it('replays what it reused though its store gave it up in the same turn, and forgets it', async () => {
    const small = new StateStore(folder.file('small'), 1);
    await using cached = new RAGSystem({ ...parts, recall: always(three), prefixCache: small });
    await using plain = new RAGSystem({ ...parts, recall: always(three) });
    const told = { sessionId: 'told', userId: 'ann' };
    await cached.chat({ ...told, query: 'What tea do I like?' });
    const { tokens } = await ask(cached);
    await ask(plain);
    expect(tokens.kvResident).toBeGreaterThan(20);
    expect(small.stats()).toMatchObject({ entries: 1, evicted: 1 });
    const [reused, text] = [await scoreOf(model, cached, ANSWER), await scoreOf(model, plain, ANSWER)];
    expect(compareScores(reused, text).bitwiseEqual).toBe(true);
    await cached.addMemory('s', 'My favourite tea is Earl Grey.', { userId: 'ann', memoryId: 'm2' });
    expect(filesWith(folder.file('small'), '')).toEqual([]);
  });
});

describe('gating', () => {
  it('injects above the threshold, scaled, and pays for the pass that measures the uncertainty', async () => {
    await using gated = dki(three, { gating: { kind: 'dual-factor', threshold: 0.5 } });
    const { metadata, tokens, timings } = await ask(gated);
    const gating = metadata['gating'] as Readonly<Record<'relevance' | 'uncertainty' | 'margin' | 'alpha', number>>;
    expect(gating).toMatchObject({ relevance: 0.9, threshold: 0.5, inject: true });
    expect(gating.margin).toBeCloseTo(0.1);
    const logit = 2 * (gating.uncertainty - 0.5) + 1.5 * (0.9 - 0.5) + 0.3 * 0.1;
    expect(gating.alpha).toBeCloseTo(1 / (1 + Math.exp(-logit)), 12);
    expect(metadata['kv']).toMatchObject({ mode: 'prefix', alpha: gating.alpha });
    expect(metadata['gateTokens']).toBeGreaterThan(10);
    expect(tokens.evaluated).toBe(tokens.prompt + tokens.kvResident + (metadata['gateTokens'] as number));
    expect(tokens.evaluated).toBe(metadata['expectedEvaluatedTokens']);
    expect(timings.gate).toBeGreaterThan(0);
  });

  it('answers without memories below it', async () => {
    await using gated = dki(three, { gating: { kind: 'dual-factor', threshold: 0.95 } });
    await using without = new RAGSystem({ ...parts, recall: always([]) });
    const response = await ask(gated);
    expect(response.memoriesUsed).toEqual([]);
    expect(response.promptInfo.finalPrompt).toBe((await ask(without)).promptInfo.finalPrompt);
    expect(response.metadata['gateTokens']).toBe(response.tokens.prompt);
    expect(response.tokens.evaluated).toBe(2 * response.tokens.prompt);
  });
});

describe('hybrid', () => {
  it('injects all preferences in front and gives the rest of the recall as text behind them', async () => {
    const tea = three[1]!;
    await using hybrid = dki([three[0]!, three[2]!], { preferences: () => [tea] });
    await ask(hybrid);
    const { memoriesUsed, promptInfo, tokens, metadata } = await ask(hybrid);
    expect(memoriesUsed.map(({ memoryId }) => memoryId)).toEqual(['m2', 'm1', 'm3']);
    expect(metadata).toMatchObject({ reuse: 'seen', injectionMode: 'dki-hybrid', kv: { memoryIds: ['m2'] } });
    const origins = promptInfo.segments.flatMap(({ role, origin }) => (role === 'memory' ? origin : []));
    expect(origins).toEqual(['injected', 'evaluated', 'evaluated']);
    expect(tokens.evaluated).toBe(tokens.prompt);
    await using rag = new RAGSystem({ ...parts, recall: always([tea, three[0]!, three[2]!]) });
    expect(promptInfo.finalPrompt).toBe((await ask(rag)).promptInfo.finalPrompt);
    const bits = compareScores(await scoreOf(model, hybrid, ANSWER), await scoreOf(model, rag, ANSWER));
    expect(bits.bitwiseEqual).toBe(true);
  });
});
