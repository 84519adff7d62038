import { join } from 'node:path';
import { StateStore } from '../../src/kv/state-store.ts';
import type { LanguageModel } from '../../src/llm/language-model.ts';
import type { BenchSystem } from '../../src/systems/bench-system.ts';
import { DKISystem } from '../../src/systems/dki/dki-system.ts';
import { type InjectionMode, linkMode } from '../../src/systems/dki/injection-mode.ts';
import { RAGSystem } from '../../src/systems/rag/rag-system.ts';
import { openToldParts } from '../open-parts.ts';
import type { LlamaServer } from './llama-server.ts';
import type { Subject } from './subject.ts';

/** What each store may keep: all that a run of this bench makes, so that nothing is evicted while it is measured. */
const STORE_BYTES = 2 ** 32;
const SAVED_SLOT = 'prefix.bin';

/** One answer of one token, and where its time went. Milliseconds. */
export interface TtftReading {
  readonly ttftMs: number;
  /** The whole call from outside, writing the turn down included: an upper bound of the time to first token. */
  readonly callMs: number;
  /** Processor time of the whole call, all threads: what other processes cannot stretch. Not known of a server. */
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

/** Sequences of the model that the rows take. */
export const ROW_SEQUENCES = 10;
/** Turns before the first that counts: the first builds, and turned keys are kept at the second. */
export const WARM_UP_TURNS = 3;

/** What the rows are made on. */
export interface RowSetting {
  readonly model: LanguageModel;
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
    ...(setting.peer === undefined ? [] : await peerRows(setting, setting.peer)),
  ];
}

function startWatch(): () => Pick<TtftReading, 'callMs' | 'cpuMs'> {
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  return () => {
    const callMs = performance.now() - start;
    const { user, system } = process.cpuUsage(cpuStart);
    return { callMs, cpuMs: (user + system) / 1000 };
  };
}

async function residentRow({ model, subject }: RowSetting): Promise<TtftRow> {
  const sequence = model.openSequence();
  const { prefix } = subject.prompt(0);
  await sequence.evaluate(prefix);
  const ask = async (turn: number): Promise<TtftReading> => {
    const { suffix } = subject.prompt(turn);
    await sequence.truncate(prefix.length);
    const before = sequence.meter;
    const stop = startWatch();
    const { firstTokenMs, prefillMs, text } = await sequence.generate(suffix, { maxTokens: 1 });
    const call = stop();
    const { inputTokens, outputTokens } = sequence.meter;
    const evaluatedTokens = inputTokens - before.inputTokens + outputTokens - before.outputTokens;
    return { ttftMs: firstTokenMs, ...call, kvLoadMs: 0, kvComputeMs: 0, prefillMs, evaluatedTokens, text };
  };
  return { name: 'the query, its prefix in place', exact: true, slow: false, ask };
}

async function systemRows({ model, subject, folder }: RowSetting): Promise<TtftRow[]> {
  // The hand-over alone is measured.
  const { parts, recallNext } = openToldParts(model, folder);
  let stores = 0;
  const openStore = (): StateStore => new StateStore(join(folder, `store-${stores++}`), STORE_BYTES);
  const dki = (mode: InjectionMode, store = openStore()): BenchSystem => new DKISystem({ ...parts, store, mode });
  // A block serves every way to join it: each is computed once, and kept in memory by each of them.
  const blocks = openStore();

  let sessions = 0;
  const rowOf = (
    name: string,
    system: BenchSystem,
    { reuse, exact = false, slow = false, reorder }: SystemRow,
  ): TtftRow => ({
    name,
    exact,
    slow,
    ask: async (turn) => {
      recallNext(reorder === true ? subject.reordered(turn) : subject.memories);
      const query = subject.query(turn);
      model.forgetTexts();
      const stop = startWatch();
      const { timings, tokens, text, metadata } = await system.chat({
        query,
        sessionId: `s${sessions++}`,
        userId: reuse === 'new' ? `user-${turn}` : 'user',
        maxNewTokens: 1,
        includeHistory: false,
      });
      const call = stop();
      const asSaid =
        tokens.evaluated === metadata['expectedEvaluatedTokens'] && metadata['reuse'] === (reuse ?? 'none');
      if (turn >= WARM_UP_TURNS && !asSaid) {
        throw new Error(`${name}: ${tokens.evaluated} tokens evaluated, K/V ${String(metadata['reuse'])}`);
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
  const warm = [
    rowOf('dki, seen', dki('prefix'), { reuse: 'seen', exact: true }),
    rowOf('dki-blocks, seen', dki('blocks', blocks), { reuse: 'seen' }),
    rowOf('dki-blocks, seen, in another order', dki('blocks', blocks), { reuse: 'seen', reorder: true }),
    rowOf('dki-parallel, seen', dki('parallel', blocks), { reuse: 'seen' }),
    rowOf('dki-link:4, seen', dki(linkMode(4), blocks), { reuse: 'seen', slow: true }),
    rowOf('rag-cached, seen', new RAGSystem({ ...parts, prefixCache: openStore() }), { exact: true }),
  ];
  for (const row of warm) {
    // What is slow evaluates anew in each turn: nothing of it is kept but what the first turn keeps.
    for (let turn = 0; turn < (row.slow ? 1 : WARM_UP_TURNS); turn++) await row.ask(turn);
  }
  return [
    ...warm,
    rowOf('rag, cold', new RAGSystem(parts), { exact: true, slow: true }),
    rowOf('dki, new', dki('prefix'), { reuse: 'new', exact: true, slow: true }),
    rowOf('dki-blocks, new', dki('blocks'), { reuse: 'new', slow: true }),
  ];
}

interface SystemRow {
  /** What the K/V must be, for the row to be what it says; undefined where nothing is injected. */
  readonly reuse?: 'new' | 'seen';
  readonly exact?: boolean;
  readonly slow?: boolean;
  /** Each turn recalls the same memories in another order. */
  readonly reorder?: boolean;
}

/** The same prompts on llama.cpp's own server: behind what its slot holds, and with the slot restored from its file. */
async function peerRows({ subject }: RowSetting, server: LlamaServer): Promise<TtftRow[]> {
  const { prefix } = subject.prompt(0);
  await server.complete(prefix);
  await server.slot('save', SAVED_SLOT);
  const restore = (): Promise<void> => server.slot('restore', SAVED_SLOT);
  const ask = async (turn: number, load: () => Promise<void>): Promise<TtftReading> => {
    const prompt = [...prefix, ...subject.prompt(turn).suffix];
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
