import { join } from 'node:path';
import { openDatabase } from '../../../src/store/database.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { meterDifference } from '../../../src/engine/token-meter.ts';
import type { TurnAccount } from '../../../src/store/records/turn-record.ts';
import type { BenchSystem } from '../../../src/systems/contracts.ts';
import { DKISystem, type DKISystemParts } from '../../../src/systems/dki-system.ts';
import type { OpenStore } from '../../../src/systems/prefill/prefill-strategy.ts';
import { parseRecipe } from '../../../src/systems/prefill/join-recipe.ts';
import { RAGSystem } from '../../../src/systems/rag-system.ts';
import type { SystemParts } from '../../../src/systems/answer-turn.ts';
import { foundMemories, openParts, storeIn } from '../../open-parts.ts';
import type { LlamaServer } from './llama-server.ts';
import { LINK_ROW, sameChunksRow } from './same-chunks.ts';
import { startWatch } from './start-watch.ts';
import { RULES, type Subject } from './subject.ts';

/** Bound of each store: all that a run of this bench makes, so that nothing is evicted while it is measured. */
const STORE_BYTES = 2 ** 32;
const SAVED_SLOT = 'prefix.bin';

/** One answer of one token, and its time by phase, in milliseconds. */
export interface TtftReading {
  readonly ttftMs: number;
  /** The whole call from outside, writing the turn down included: an upper bound of the time to first token. */
  readonly callMs: number;
  /** Processor time of the whole call, all threads, which other processes cannot stretch. Not known of a server. */
  readonly cpuMs: number | undefined;
  readonly kvLoadMs: number;
  readonly kvComputeMs: number;
  readonly prefillMs: number;
  readonly evaluatedTokens: number;
  readonly text: string;
}

/** A way to the first token. */
export interface TtftRow {
  readonly name: string;
  /** Its sequence is that of the text, so its first token is too. */
  readonly exact: boolean;
  /** It evaluates the memories, or some of each. */
  readonly slow: boolean;
  /** @param turn another query each; two calls of one turn would find each other's */
  readonly ask: (turn: number) => Promise<TtftReading>;
}

/** Sessions of the engine that the rows take. */
export const ROW_SESSIONS = 11;
/** Turns before the first that counts: the first builds, and rotated keys are kept at the second. */
export const WARM_UP_TURNS = 3;

/** The parts of which rows are made. */
export interface RowSetting {
  readonly engine: Engine;
  readonly subject: Subject;
  /** For stores and the database. */
  readonly folder: string;
  readonly peer: LlamaServer | undefined;
}

/** Every row, warm; the first is what the others are compared with. */
export async function openRows(setting: RowSetting): Promise<TtftRow[]> {
  return [
    await residentRow(setting),
    ...(await systemRows(setting)),
    await sameChunksRow(setting),
    ...(setting.peer === undefined ? [] : await peerRows(setting, setting.peer)),
  ];
}

async function residentRow({ engine, subject }: RowSetting): Promise<TtftRow> {
  const session = await engine.openSession('resident');
  const { prefix } = await subject.prompt(0);
  await session.evaluate(prefix);
  const ask = async (turn: number): Promise<TtftReading> => {
    const { suffix } = await subject.prompt(turn);
    await session.truncate(prefix.length);
    const before = await session.meter();
    const stop = startWatch();
    const { firstTokenMs, text } = await session.generate(suffix, { maxTokens: 1 });
    const call = stop();
    const { evaluated } = meterDifference(await session.meter(), before);
    return {
      ttftMs: firstTokenMs,
      ...call,
      kvLoadMs: 0,
      kvComputeMs: 0,
      prefillMs: firstTokenMs,
      evaluatedTokens: evaluated ?? Number.NaN,
      text,
    };
  };
  return { name: 'the query, its prefix in place', exact: true, slow: false, ask };
}

async function systemRows({ engine, subject, folder }: RowSetting): Promise<TtftRow[]> {
  const database = openDatabase({ path: join(folder, 'turns.sqlite') });
  let opened = 0;
  // One session for each system, so that none finds what another left.
  const parts = async (): Promise<SystemParts> =>
    openParts({ engine, session: await engine.openSession(`row ${opened++}`) }, database, RULES);
  let stores = 0;
  const openStore = (): OpenStore => storeIn(join(folder, `store-${stores++}`), STORE_BYTES);
  const dki = async (
    prefill: NonNullable<DKISystemParts['prefill']>,
    store: OpenStore = openStore(),
  ): Promise<BenchSystem> => new DKISystem({ ...(await parts()), openStore: store, prefill });
  const blocks = parseRecipe('blocks');
  // A block serves every way to join it: each is computed once, and kept in memory by each of them.
  const shared = openStore();

  let sessions = 0;
  const rowOf = (
    name: string,
    system: BenchSystem,
    { cache, exact = false, slow = false, reorder }: SystemRow,
  ): TtftRow => ({
    name,
    exact,
    slow,
    ask: async (turn) => {
      const memories = reorder === true ? subject.reordered(turn) : subject.memories;
      const query = await subject.query(turn);
      const stop = startWatch();
      const { timings, tokens, text, trace } = await system.chat({
        query,
        sessionId: `s${sessions++}`,
        userId: cache === 'miss' ? `user-${turn}` : 'user',
        maxNewTokens: 1,
        includeHistory: false,
        // Prefill alone is measured, not retrieval.
        retrieved: foundMemories(memories),
      });
      const call = stop();
      const { account } = trace;
      const isAsNamed = tokens.evaluated === account.evaluated && account.cache === cache;
      if (turn >= WARM_UP_TURNS && !isAsNamed) {
        throw new Error(`${name}: ${tokens.evaluated} tokens evaluated, cache ${account.cache}`);
      }
      return {
        ttftMs: timings.firstToken,
        ...call,
        kvLoadMs: timings.kvLoad,
        kvComputeMs: timings.kvCompute,
        prefillMs: timings.prefill,
        evaluatedTokens: tokens.evaluated,
        text,
      };
    },
  });
  const parallel = parseRecipe('parallel');
  const cachedText = new RAGSystem({ ...(await parts()), prefixCache: openStore() });
  const warm = [
    rowOf('dki, cache hit', await dki('prefix'), { cache: 'hit', exact: true }),
    rowOf('dki-blocks, cache hit', await dki(blocks, shared), { cache: 'hit' }),
    rowOf('dki-blocks, cache hit, in another order', await dki(blocks, shared), { cache: 'hit', reorder: true }),
    rowOf('dki-parallel, cache hit', await dki(parallel, shared), { cache: 'hit' }),
    rowOf(LINK_ROW, await dki(parseRecipe('link:4'), shared), { cache: 'hit', slow: true }),
    rowOf('rag-cached, prefix found', cachedText, { cache: 'bypass', exact: true }),
  ];
  for (const row of warm) {
    // Slow rows evaluate anew in each turn: nothing of it is kept but what the first turn keeps.
    for (let turn = 0; turn < (row.slow ? 1 : WARM_UP_TURNS); turn++) await row.ask(turn);
  }
  return [
    ...warm,
    rowOf('rag', new RAGSystem(await parts()), { cache: 'bypass', exact: true, slow: true }),
    rowOf('dki, cache miss', await dki('prefix'), { cache: 'miss', exact: true, slow: true }),
    rowOf('dki-blocks, cache miss', await dki(blocks), { cache: 'miss', slow: true }),
  ];
}

interface SystemRow {
  /** The cache result without which the row is not what it is called. */
  readonly cache: TurnAccount['cache'];
  readonly exact?: boolean;
  readonly slow?: boolean;
  /** Each turn is given the same memories in another order. */
  readonly reorder?: boolean;
}

/** The same prompts on llama.cpp's own server: behind the prefix in its slot, and with the slot restored from its file. */
async function peerRows({ subject }: RowSetting, server: LlamaServer): Promise<TtftRow[]> {
  const { prefix } = await subject.prompt(0);
  await server.complete(prefix);
  await server.slot('save', SAVED_SLOT);
  const restore = (): Promise<void> => server.slot('restore', SAVED_SLOT);
  const ask = async (turn: number, load: () => Promise<void>): Promise<TtftReading> => {
    const prompt = [...prefix, ...(await subject.prompt(turn)).suffix];
    const start = performance.now();
    await load();
    const kvLoadMs = performance.now() - start;
    const { text, evaluatedTokens, evaluateMs } = await server.complete(prompt);
    const ttftMs = performance.now() - start;
    return {
      ttftMs,
      callMs: ttftMs,
      cpuMs: undefined,
      kvLoadMs,
      kvComputeMs: 0,
      prefillMs: evaluateMs,
      evaluatedTokens,
      text,
    };
  };
  const rowOf = (name: string, before: () => Promise<void>, load: () => Promise<void>): TtftRow => ({
    name: `llama-server, ${name}`,
    exact: true,
    slow: false,
    ask: async (turn) => {
      // The slot may hold this very query, of the other row.
      await before();
      return await ask(turn, load);
    },
  });
  return [
    rowOf('prefix in place', restore, () => Promise.resolve()),
    rowOf('slot restored', () => server.slot('erase'), restore),
  ];
}
