import { BenchError } from '../../../base/bench-error.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession, Generation, GenerationLimits } from '../../../engine/engine-session.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { meterDifference, meterSum } from '../../../engine/token-meter.ts';
import { kvOperations } from '../../../kv/kv-operations.ts';
import type { Retriever } from '../../../retrieval/retriever.ts';
import type { SystemParts } from '../../../systems/answer-turn.ts';
import type { ComputeBlock, OpenStore } from '../../../systems/prefill/prefill-strategy.ts';
import type { ChatResponse } from '../../../systems/memory-system.ts';
import { SharedBlocks } from './shared-blocks.ts';

export interface RecordedGeneration {
  /** The engine's session, not the recorded one. */
  readonly session: EngineSession;
  readonly before: readonly TokenId[];
  readonly suffix: readonly TokenId[];
  readonly limits: GenerationLimits;
  readonly given: Generation;
}

/** Times are in milliseconds, and include those of shared blocks that were charged. */
export interface RecordedTurn {
  /** From the call to the first token of the last generation; null if nothing was generated. */
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
  /** Time of the whole call, by a second stopwatch. */
  readonly outerMs: number;
  /** Time outside watched calls, spent by the system itself, until the first token; until the end if there is none. */
  readonly ownMs: number;
  /** Prompt tokens that the engine evaluated, over all its sessions, and charged ones; null if it does not count them. */
  readonly evaluated: number | null;
  /** Tokens that ran through the model's first layers alone. */
  readonly firstLayers: number;
  /** Calls of the system for the same turn, this one included. */
  readonly tries: number;
  /** Tokens that the engine evaluated in preparation since the previous turn; null if it does not count them. */
  readonly aheadTokens: number | null;
  readonly generation: RecordedGeneration | null;
}

const UNWATCHED: readonly PropertyKey[] = ['stats', 'reset'];

type Watch = <R>(call: () => R) => R;

/** Wraps an object so that its methods are called through `watch`. @param replaced members that replace its own */
export function watchCalls<T extends object>(target: T, watch: Watch, replaced: Partial<T> = {}): T {
  return new Proxy(target, {
    get: (_, name) => {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name) as unknown;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (typeof name === 'symbol' || UNWATCHED.includes(name)) return member.bind(target) as unknown;
      return (...given: readonly unknown[]): unknown => watch(() => member.apply(target, given) as unknown);
    },
  });
}

export interface RecordedRetrieval {
  readonly query: string;
  readonly memoryIds: readonly string[];
  readonly ms: number;
}

/** A retriever that behaves like the given one, and the last retrieval from it. */
export function retrievalRecorder(given: Retriever) {
  const retriever = watchCalls(given, (call) => call(), {
    retrieve: async (query, options) => {
      const start = performance.now();
      const found = await given.retrieve(query, options);
      const memoryIds = found.memories.map(({ memoryId }) => memoryId);
      recorder.last = { query, memoryIds, ms: performance.now() - start };
      return found;
    },
  });
  const recorder: { readonly retriever: Retriever; last?: RecordedRetrieval } = { retriever };
  return recorder;
}

/** A turn or declared work in progress: its time, in and outside watched calls, and its last generation. */
class OpenWork {
  generation: RecordedGeneration | null = null;
  readonly #start = performance.now();
  /** Time of blocks that another arm's turn computed. */
  chargedMs = 0;
  /** Time in ended calls; overlapping calls count once. */
  #watchedMs = 0;
  #calls = 0;
  #since = 0;
  #first: { readonly ms: number; readonly ownMs: number } | undefined;

  enter(): void {
    if (this.#calls++ === 0) this.#since = performance.now();
  }

  leave(): void {
    if (--this.#calls === 0) this.#watchedMs += performance.now() - this.#since;
  }

  /** Notes the first token of a generation; a later generation replaces it. */
  firstToken(): void {
    this.#first = this.#now();
  }

  times(): Pick<RecordedTurn, 'firstTokenMs' | 'totalMs' | 'ownMs'> {
    const whole = this.#now();
    return { firstTokenMs: this.#first?.ms ?? null, totalMs: whole.ms, ownMs: (this.#first ?? whole).ownMs };
  }

  #now(): { readonly ms: number; readonly ownMs: number } {
    const now = performance.now();
    const watchedMs = this.#watchedMs + (this.#calls > 0 ? now - this.#since : 0);
    return { ms: now - this.#start + this.chargedMs, ownMs: now - this.#start - watchedMs };
  }
}

/** Wraps engine, store and memories of an arm's system: times calls, refuses them outside turns and declared work. */
export class TurnRecorder {
  readonly #blocks: SharedBlocks;
  /** First-layer engines that the system has opened, with the token count of each at the start of the turn. */
  readonly #early = new Map<Engine, number>();
  #open: OpenWork | undefined;
  #refused = 0;
  #tried: { readonly turn: string | undefined; readonly times: number } = { turn: undefined, times: 0 };
  #aheadTokens: number | null = 0;

  /** @param blocks default: none are shared with another arm */
  constructor(engine: Engine, blocks = new SharedBlocks(engine)) {
    this.#blocks = blocks;
  }

  get refused(): number {
    return this.#refused;
  }

  parts(parts: SystemParts, openStore: OpenStore): SystemParts & { readonly openStore: OpenStore } {
    const opened = parts.open().then(({ engine, session }) => ({
      engine: this.#recordedEngine(engine),
      session: this.#recordedSession(session),
    }));
    const kv = parts.kv ?? kvOperations;
    return {
      ...parts,
      open: () => opened,
      memories: watchCalls(parts.memories, this.#watch),
      computeBlock: this.#computeBlock,
      kv: watchCalls(kv, this.#watch, { openBlocks: (...given) => watchCalls(kv.openBlocks(...given), this.#watch) }),
      openStore: async (engine) => {
        const { store, ...others } = await this.#watch(() => openStore(engine));
        return { ...others, store: watchCalls(store, this.#watch) };
      },
    };
  }

  #recordedEngine(engine: Engine): Engine {
    return watchCalls(engine, this.#watch, {
      openSession: (...given) => this.#watch(async () => this.#recordedSession(await engine.openSession(...given))),
      firstLayers: (...given) =>
        this.#watch(async () => {
          const early = await engine.firstLayers(...given);
          if (!this.#early.has(early)) this.#early.set(early, await countEvaluated(early));
          return this.#recordedEngine(early);
        }),
    });
  }

  #recordedSession(session: EngineSession): EngineSession {
    return watchCalls(session, this.#watch, {
      meter: async () => meterSum(await session.meter(), this.#blocks.charged),
      generate: (...given) => this.#watch(() => this.#generate(session, ...given)),
    });
  }

  /** Runs and times a turn. @param turn its name, by which calls for the same turn are counted */
  async turn<T>(work: () => Promise<T>, turn?: string) {
    const isAgain = turn !== undefined && this.#tried.turn === turn;
    this.#tried = { turn, times: isAgain ? this.#tried.times + 1 : 1 };
    const aheadTokens = this.#aheadTokens;
    const before = await this.#blocks.meter();
    for (const early of this.#early.keys()) this.#early.set(early, await countEvaluated(early));
    const start = performance.now();
    const { value, open } = await this.#run(work);
    const times = open.times();
    const outerMs = performance.now() - start + open.chargedMs;
    this.#aheadTokens = 0;
    const { evaluated } = meterDifference(await this.#blocks.meter(), before);
    let firstLayers = 0;
    for (const [early, earlier] of this.#early) firstLayers += (await countEvaluated(early)) - earlier;
    const counted = { evaluated, firstLayers, tries: this.#tried.times, aheadTokens };
    return { value, recorded: { ...times, outerMs, ...counted, generation: open.generation } };
  }

  /** Runs work that belongs to no turn: a probe, or a reset, which also drops what was prepared. */
  async declared<T>(work: () => Promise<T>): Promise<T> {
    const { value } = await this.#run(work);
    this.#aheadTokens = 0;
    return value;
  }

  /** Runs preparation between two turns. Its tokens are counted for the next turn. */
  async preparation<T>(work: () => Promise<T>): Promise<T> {
    const before = await this.#blocks.meter();
    const { value } = await this.#run(work);
    const { evaluated } = meterDifference(await this.#blocks.meter(), before);
    this.#aheadTokens = evaluated === null || this.#aheadTokens === null ? null : this.#aheadTokens + evaluated;
    return value;
  }

  async #run<T>(work: () => Promise<T>) {
    const open = new OpenWork();
    this.#open = open;
    try {
      return { value: await work(), open };
    } finally {
      this.#open = undefined;
    }
  }

  readonly #watch: Watch = (call) => {
    const open = this.#requireOpen();
    open.enter();
    let isPending = false;
    try {
      const result = call();
      if (!(result instanceof Promise)) return result;
      isPending = true;
      return result.finally(() => open.leave()) as typeof result;
    } finally {
      if (!isPending) open.leave();
    }
  };

  readonly #computeBlock: ComputeBlock = async (userId, key, compute) => {
    const open = this.#requireOpen();
    const block = await this.#blocks.get(userId, key, compute);
    open.chargedMs += block.chargedMs;
    return block;
  };

  async #generate(session: EngineSession, ...[suffix, limits, options]: Parameters<EngineSession['generate']>) {
    const open = this.#requireOpen();
    const before = session.tokens;
    let begun = false;
    const onToken: GenerationLimits['onToken'] = (id, text) => {
      if (!begun) open.firstToken();
      begun = true;
      limits.onToken?.(id, text);
    };
    const given = await session.generate(suffix, { ...limits, onToken }, options);
    open.generation = { session, before, suffix, limits, given };
    return given;
  }

  #requireOpen(): OpenWork {
    if (this.#open !== undefined) return this.#open;
    this.#refused++;
    const message = 'a system called its engine, store or memories outside of a turn, where no clock runs';
    throw new BenchError('no-session', message, 'call them in chat(), or in prepare() for work before a turn');
  }
}

/** Prompt tokens evaluated so far, by an engine that counts them. Engines with first layers do. */
async function countEvaluated(engine: Engine): Promise<number> {
  return (await engine.meter()).evaluated ?? 0;
}

/** Replaces a system's times, tokens and sequence by the recorded ones. @param retrieveMs 0 if nothing is retrieved */
export function measuredResponse(
  response: ChatResponse,
  { firstTokenMs, totalMs, evaluated, firstLayers, generation }: RecordedTurn,
  retrieveMs: number,
): ChatResponse {
  const { timings, tokens, trace } = response;
  const total = retrieveMs + totalMs;
  const suffix = generation?.suffix ?? trace.suffix;
  const sessionTokens = generation === null ? trace.sessionTokens : [...generation.before, ...generation.suffix];
  return {
    ...response,
    latencyMs: total,
    timings: { ...timings, firstToken: retrieveMs + (firstTokenMs ?? totalMs), total },
    tokens: { ...tokens, evaluated: evaluated ?? tokens.evaluated, ...(firstLayers === 0 ? {} : { firstLayers }) },
    trace: { ...trace, suffix, sessionTokens },
  };
}
