import { join } from 'node:path';
import { z } from 'zod';
import type { Engine } from '../../../src/engine/engine.ts';
import type { EngineSession } from '../../../src/engine/engine-session.ts';
import type { LlamaServerProcess } from '../../../src/engine/llama-server/llama-server-process.ts';
import { meterDifference } from '../../../src/engine/token-meter.ts';
import { openDatabase } from '../../../src/store/database.ts';
import type { TurnAccount } from '../../../src/store/records/turn-record.ts';
import type { BenchSystem } from '../../../src/systems/memory-system.ts';
import { DKISystem, type DKISystemParts } from '../../../src/systems/dki-system.ts';
import type { OpenStore } from '../../../src/systems/prefill/prefill-strategy.ts';
import { parseRecipe } from '../../../src/systems/prefill/join-recipe.ts';
import { selectTokensToRecompute } from '../../../src/systems/prefill/select-tokens-to-recompute.ts';
import { RAGSystem } from '../../../src/systems/rag-system.ts';
import type { SystemParts } from '../../../src/systems/answer-turn.ts';
import { foundMemories, openParts, storeIn } from '../../open-parts.ts';
import { RULES, type Subject } from './subject.ts';

/** Limit of each store, large enough that nothing is evicted. */
const STORE_BYTES = 2 ** 32;
const SAVED_SLOT = 'prefix.bin';

/** One answer of one token, and the time of each phase, ms. */
export interface TtftReading {
  readonly ttftMs: number;
  /** The whole call, with storing the turn: an upper bound of the time to first token. */
  readonly callMs: number;
  /** CPU time of the whole call, all threads; unknown for a server. */
  readonly cpuMs?: number;
  readonly kvLoadMs: number;
  readonly kvComputeMs: number;
  readonly prefillMs: number;
  readonly evaluatedTokens: number;
  readonly text: string;
}

/** A way to the first token. */
export interface TtftRow {
  readonly name: string;
  /** Its sequence equals that of the text, so its first token does too. */
  readonly exact?: boolean;
  /** It evaluates all memories, or some tokens of each. */
  readonly slow?: boolean;
  /** @param turn gives each call another query, so that no call finds another's KV */
  readonly ask: (turn: number) => Promise<TtftReading>;
}

/** Sessions of the engine that the rows use. */
export const ROW_SESSIONS = 11;
/** Turns before the first measured one: the first builds KV, and the second stores rotated keys. */
export const WARM_UP_TURNS = 3;

export interface RowSetting {
  readonly engine: Engine;
  readonly subject: Subject;
  readonly folder: string;
  readonly server: LlamaServerProcess | undefined;
}

/** Opens all rows, warm; the others are compared with the first. */
export async function openRows(setting: RowSetting): Promise<TtftRow[]> {
  const { server, subject } = setting;
  const inEngine = [await residentRow(setting), ...(await systemRows(setting)), await sameChunksRow(setting)];
  return server === undefined ? inEngine : [...inEngine, ...(await serverRows(subject, server.url))];
}

async function timed<Result>(call: () => Promise<Result>) {
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  const result = await call();
  const callMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  return { result, callMs, cpuMs: (user + system) / 1000 };
}

/** Reads a call on a bare session. */
async function readSession(
  session: EngineSession,
  call: () => Promise<{ readonly text: string; readonly firstTokenMs?: number }>,
): Promise<TtftReading> {
  const before = await session.meter();
  const { result, callMs, cpuMs } = await timed(call);
  const { evaluated } = meterDifference(await session.meter(), before);
  const { text, firstTokenMs: ttftMs = callMs } = result;
  const phases = { kvLoadMs: 0, kvComputeMs: 0, prefillMs: ttftMs };
  return { ttftMs, callMs, cpuMs, ...phases, evaluatedTokens: evaluated ?? Number.NaN, text };
}

async function residentRow({ engine, subject }: RowSetting): Promise<TtftRow> {
  const session = await engine.openSession('resident');
  const { prefix } = await subject.prompt(0);
  await session.evaluate(prefix);
  const ask = async (turn: number): Promise<TtftReading> => {
    const { suffix } = await subject.prompt(turn);
    await session.truncate(prefix.length);
    return readSession(session, () => session.generate(suffix, { maxTokens: 1 }));
  };
  return { name: 'the query, its prefix in place', exact: true, ask };
}

/** The row that recomputes the first four tokens of each block, and the row that makes the same evaluations and moves no KV. */
export const LINK_ROW = 'dki-link:4, cache hit';
export const SAME_CHUNKS_ROW = 'the tokens of dki-link:4 in its chunks, no KV moved';

/**
 * The evaluations of recomputation alone: the query behind the whole prefix, then each chunk behind all that precedes it, the last
 * one first, so that truncating the sequence is all that is needed in between.
 */
async function sameChunksRow({ engine, subject }: RowSetting): Promise<TtftRow> {
  const session = await engine.openSession('chunks');
  const ask = async (turn: number): Promise<TtftReading> => {
    const { prefix, suffix, headerTokens, lines } = await subject.prompt(turn);
    const blocks = lines.map((tokenIds, rank) => ({ tokenIds, rank }));
    const chunks = selectTokensToRecompute({ by: 'link', tokens: 4 }, blocks)
      .map(({ start, end }) => ({ start: headerTokens + start, end: headerTokens + end }))
      .reverse();
    // Restores the prefix, which the chunks of the last turn truncated.
    const intact = Math.min(chunks.at(-1)?.start ?? prefix.length, session.tokens.length);
    await session.truncate(intact);
    await session.evaluate(prefix.slice(intact));
    return readSession(session, async () => {
      const { text } = await session.generate(suffix, { maxTokens: 1 });
      for (const { start, end } of chunks) {
        await session.truncate(start);
        await session.evaluate(prefix.slice(start, end));
      }
      return { text };
    });
  };
  await ask(0);
  return { name: SAME_CHUNKS_ROW, slow: true, ask };
}

interface SystemRow extends Omit<TtftRow, 'ask'> {
  readonly system: BenchSystem;
  /** The cache result that the row is named for. */
  readonly cache: TurnAccount['cache'];
  /** Each turn gets the same memories in another order. */
  readonly reorder?: boolean;
}

async function systemRows({ engine, subject, folder }: RowSetting): Promise<TtftRow[]> {
  const database = openDatabase({ path: join(folder, 'turns.sqlite') });
  let [opened, stores, sessions] = [0, 0, 0];
  // One session for each system, so that none finds another's cells.
  const parts = async (): Promise<SystemParts> =>
    openParts({ engine, session: await engine.openSession(`row ${opened++}`) }, database, RULES);
  const openStore = (): OpenStore => storeIn(join(folder, `store-${stores++}`), STORE_BYTES);
  const dki = async (
    prefill: NonNullable<DKISystemParts['prefill']>,
    store: OpenStore = openStore(),
  ): Promise<BenchSystem> => new DKISystem({ ...(await parts()), openStore: store, prefill });

  const row = ({ system, cache, reorder, ...about }: SystemRow): TtftRow => ({
    ...about,
    ask: async (turn) => {
      const query = await subject.query(turn);
      const request = {
        query,
        sessionId: `s${sessions++}`,
        userId: cache === 'miss' ? `user-${turn}` : 'user',
        maxNewTokens: 1,
        includeHistory: false,
        retrieved: foundMemories(reorder === true ? subject.reordered(turn) : subject.memories),
      };
      const { result, callMs, cpuMs } = await timed(() => system.chat(request));
      const { timings, tokens, text, trace } = result;
      const { account } = trace;
      const isAsNamed = tokens.evaluated === account.evaluated && account.cache === cache;
      if (turn >= WARM_UP_TURNS && !isAsNamed) {
        throw new Error(`${about.name}: ${tokens.evaluated} tokens evaluated, cache ${account.cache}`);
      }
      const { firstToken: ttftMs, kvLoad: kvLoadMs, kvCompute: kvComputeMs, prefill: prefillMs } = timings;
      return { ttftMs, callMs, cpuMs, kvLoadMs, kvComputeMs, prefillMs, evaluatedTokens: tokens.evaluated, text };
    },
  });
  const [blocks, parallel, link] = [parseRecipe('blocks'), parseRecipe('parallel'), parseRecipe('link:4')];
  // Every way of joining uses the same blocks: each is computed once.
  const shared = openStore();
  const cachedText = new RAGSystem({ ...(await parts()), prefixCache: openStore() });
  const reordered = 'dki-blocks, cache hit, in another order';
  const warm = [
    row({ name: 'dki, cache hit', system: await dki('prefix'), cache: 'hit', exact: true }),
    row({ name: 'dki-blocks, cache hit', system: await dki(blocks, shared), cache: 'hit' }),
    row({ name: reordered, system: await dki(blocks, shared), cache: 'hit', reorder: true }),
    row({ name: 'dki-parallel, cache hit', system: await dki(parallel, shared), cache: 'hit' }),
    row({ name: LINK_ROW, system: await dki(link, shared), cache: 'hit', slow: true }),
    row({ name: 'rag-cached, prefix found', system: cachedText, cache: 'bypass', exact: true }),
  ];
  for (const { slow, ask } of warm) {
    // Slow rows evaluate anew in each turn, and reuse nothing but what the first turn stores.
    for (let turn = 0; turn < (slow ? 1 : WARM_UP_TURNS); turn++) await ask(turn);
  }
  return [
    ...warm,
    row({ name: 'rag', system: new RAGSystem(await parts()), cache: 'bypass', exact: true, slow: true }),
    row({ name: 'dki, cache miss', system: await dki('prefix'), cache: 'miss', exact: true, slow: true }),
    row({ name: 'dki-blocks, cache miss', system: await dki(blocks), cache: 'miss', slow: true }),
  ];
}

const completion = z.object({
  content: z.string(),
  timings: z.object({ prompt_n: z.number(), prompt_ms: z.number() }),
});

/** The same prompts on llama.cpp's own server: behind the prefix in its slot, and with the slot restored from its file. */
async function serverRows(subject: Subject, url: string): Promise<TtftRow[]> {
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (response.ok) return response.json();
    throw new Error(`llama-server answers ${path} with ${response.status}: ${await response.text()}`);
  };
  const slot = (action: 'save' | 'restore' | 'erase') =>
    post(`/slots/0?action=${action}`, action === 'erase' ? {} : { filename: SAVED_SLOT });
  const complete = async (prompt: readonly number[]) =>
    completion.parse(
      await post('/completion', { prompt, n_predict: 1, temperature: 0, cache_prompt: true, id_slot: 0 }),
    );
  const { prefix } = await subject.prompt(0);
  await complete(prefix);
  await slot('save');

  const row = (name: string, before: () => Promise<unknown>, load: () => Promise<unknown>): TtftRow => ({
    name: `llama-server, ${name}`,
    exact: true,
    ask: async (turn) => {
      // The slot may hold this query of the other row.
      await before();
      const prompt = [...prefix, ...(await subject.prompt(turn)).suffix];
      const start = performance.now();
      await load();
      const kvLoadMs = performance.now() - start;
      const { content, timings } = await complete(prompt);
      const ttftMs = performance.now() - start;
      const phases = { kvLoadMs, kvComputeMs: 0, prefillMs: timings.prompt_ms };
      return { ttftMs, callMs: ttftMs, ...phases, evaluatedTokens: timings.prompt_n, text: content.trimStart() };
    },
  });
  const restore = () => slot('restore');
  return [row('prefix in place', restore, () => Promise.resolve()), row('slot restored', () => slot('erase'), restore)];
}
