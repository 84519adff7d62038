import { BenchError } from '../../../base/bench-error.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession, Generation, GenerationLimits } from '../../../engine/engine-session.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { meterDifference } from '../../../engine/token-meter.ts';
import { type KvTools, kvTools } from '../../../kv/kv-tools.ts';
import type { SystemParts } from '../../../systems/system-parts.ts';
import type { OpenStore } from '../../../systems/prefill/arm-store.ts';
import type { MemoryKeeper } from '../../../systems/memory-keeper.ts';
import { type TurnTimes, TurnStopwatch } from './turn-stopwatch.ts';
import { type Watch, watched } from './watched.ts';

/** An answer as its engine generated it. */
export interface RecordedGeneration {
  /** The engine's own session in which it was generated. */
  readonly session: EngineSession;
  /** The token at each position of the session by then. */
  readonly before: readonly TokenId[];
  /** Tokens that were evaluated behind these by the same call. */
  readonly suffix: readonly TokenId[];
  readonly limits: GenerationLimits;
  readonly given: Generation;
}

/** A turn as it was seen by all that served it. */
export interface RecordedTurn extends TurnTimes {
  /** Prompt tokens that ran through the model, over all sessions of the engine; null where it does not count them. */
  readonly evaluated: number | null;
  /** Tokens that ran through the model's first layers alone, by the meters of the engines that have these. */
  readonly firstLayers: number;
  /** The last one; null where nothing was generated. */
  readonly generation: RecordedGeneration | null;
}

const SESSION_CALLS = [
  ...(['evaluate', 'score', 'truncate', 'erase', 'clear', 'meter', 'readBack'] as const),
  ...(['checkpoint', 'restore', 'exportCells', 'importCells'] as const),
];
const STORE_CALLS = [
  ...(['findCheckpoint', 'findBlock', 'reject', 'discard'] as const),
  ...(['keepCheckpoint', 'keepBlock', 'forgetMemory', 'clear'] as const),
];
const KV_CALLS = [
  ...(['join', 'cut', 'first', 'replace', 'evict', 'quantise', 'restore', 'key', 'readBlock'] as const),
  ...(['deviations', 'repeatHeads', 'attention'] as const),
];
const BLOCK_CALLS = ['find', 'keep', 'settle', 'reject', 'forgetMemory', 'clear'] as const;

interface OpenWork {
  readonly stopwatch: TurnStopwatch;
  generation: RecordedGeneration | null;
}

/**
 * Stands between the system of one arm and all that serves it: engine, sessions, store, memories, and the work on K/V. It
 * times their calls, keeps the last generation, and refuses calls outside a turn or work that was declared, so that nothing
 * is done while no clock runs.
 */
export class TurnRecorder {
  readonly #engine: Engine;
  /** Engines of the model's first layers that the system has used, and what each had evaluated by the beginning of the turn. */
  readonly #early = new Map<Engine, number>();
  #open: OpenWork | undefined;
  #refused = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Calls that were refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** The parts of the arm's system, as it sees them. */
  parts(parts: SystemParts, openStore: OpenStore): SystemParts & { readonly openStore: OpenStore } {
    const opened = parts.open().then(({ engine, session }) => ({
      engine: this.#recordedEngine(engine),
      session: this.#recordedSession(session),
    }));
    return {
      ...parts,
      open: () => opened,
      memories: this.#recordedMemories(parts.memories),
      kv: this.#recordedKv(parts.kv ?? kvTools),
      openStore: this.#recordedStores(openStore),
    };
  }

  #recordedEngine(engine: Engine): Engine {
    return watched(engine, ['tokenize', 'detokenize', 'meter', 'deleteCheckpoint'], this.#watch, {
      openSession: (...asked) =>
        this.#watch(() => engine.openSession(...asked).then((session) => this.#recordedSession(session))),
      firstLayers: (...asked) => this.#watch(() => this.#firstLayers(engine, ...asked)),
    });
  }

  async #firstLayers(engine: Engine, ...asked: Parameters<Engine['firstLayers']>): Promise<Engine> {
    const early = await engine.firstLayers(...asked);
    if (!this.#early.has(early)) this.#early.set(early, await evaluatedBy(early));
    return this.#recordedEngine(early);
  }

  #recordedSession(session: EngineSession): EngineSession {
    return watched(session, SESSION_CALLS, this.#watch, {
      generate: (...asked) => this.#watch(() => this.#generate(session, ...asked)),
    });
  }

  #recordedStores(open: OpenStore): OpenStore {
    return async (engine) => {
      const { store, ...others } = await this.#watch(() => open(engine));
      return { ...others, store: watched(store, STORE_CALLS, this.#watch) };
    };
  }

  #recordedMemories(keeper: MemoryKeeper): MemoryKeeper {
    return watched(keeper, ['retrieve', 'search', 'all', 'preferences', 'add', 'remove', 'load'], this.#watch);
  }

  #recordedKv(tools: KvTools): KvTools {
    return watched(tools, KV_CALLS, this.#watch, {
      openBlocks: (...asked) => watched(tools.openBlocks(...asked), BLOCK_CALLS, this.#watch),
    });
  }

  /** Runs a turn: its clock begins with the call. */
  async turn<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly recorded: RecordedTurn }> {
    const before = await this.#engine.meter();
    for (const early of this.#early.keys()) this.#early.set(early, await evaluatedBy(early));
    const { value, open, times } = await this.#during(work);
    const { evaluated } = meterDifference(await this.#engine.meter(), before);
    let firstLayers = 0;
    for (const [early, earlier] of this.#early) firstLayers += (await evaluatedBy(early)) - earlier;
    return { value, recorded: { ...times, evaluated, firstLayers, generation: open.generation } };
  }

  /** Runs work outside turns that is counted elsewhere, such as a warm-up. */
  async declared<T>(work: () => Promise<T>): Promise<T> {
    return (await this.#during(work)).value;
  }

  async #during<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly value: T; readonly open: OpenWork; readonly times: TurnTimes }> {
    const open: OpenWork = { stopwatch: new TurnStopwatch(), generation: null };
    this.#open = open;
    try {
      const value = await work();
      return { value, open, times: open.stopwatch.stop() };
    } finally {
      this.#open = undefined;
    }
  }

  readonly #watch: Watch = (call) => {
    const { stopwatch } = this.#requireOpen();
    stopwatch.enter();
    let ended = true;
    try {
      const result = call();
      if (result instanceof Promise) {
        ended = false;
        return result.finally(() => stopwatch.leave()) as typeof result;
      }
      return result;
    } finally {
      if (ended) stopwatch.leave();
    }
  };

  async #generate(session: EngineSession, ...[suffix, limits, options]: Parameters<EngineSession['generate']>) {
    const open = this.#requireOpen();
    const before = session.tokens;
    let begun = false;
    const given = await session.generate(
      suffix,
      {
        ...limits,
        onToken: (id, text) => {
          if (!begun) open.stopwatch.firstToken();
          begun = true;
          limits.onToken?.(id, text);
        },
      },
      options,
    );
    open.generation = { session, before, suffix, limits, given };
    return given;
  }

  #requireOpen(): OpenWork {
    if (this.#open !== undefined) return this.#open;
    this.#refused++;
    throw new BenchError(
      'no-session',
      'a system called its engine, its store or its memories outside of a turn, where no clock runs',
      'do the work within chat(), or in prepare() where it is done ahead',
    );
  }
}

/** Prompt tokens by an engine's meter; an engine that shows its first layers counts. */
async function evaluatedBy(engine: Engine): Promise<number> {
  return (await engine.meter()).evaluated ?? 0;
}
