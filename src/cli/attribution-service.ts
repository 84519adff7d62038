import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { AttributionRepository } from '../store/attribution-repository.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import type { Engine } from '../engine/engine.ts';
import type { ComposeEngine } from '../engine/engine-request.ts';
import { attribute } from '../eval/run/attribution/attribute.ts';
import { loadRunModel, type RunModel, runModel } from '../eval/run/attribution/model-of-run.ts';
import type { AttributionPort } from '../viewer/attribution/attribution-port.ts';
import type { TurnRef } from '../viewer/links.ts';
import type { AttributionRecord } from '../store/records/attribution-record.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

/** Time after the last computation at which the model is released. */
const IDLE_MS = 60_000;

/**
 * Computes leave-one-out attributions one after the other and stores them, through a connection of its own. The model is
 * loaded at the first computation, and released a minute after the last one.
 */
export class AttributionService implements AttributionPort, AsyncDisposable {
  readonly #config: Pick<BenchConfig, 'db' | 'model'>;
  readonly #compose: ComposeEngine;
  #loaded: { readonly wanted: string; readonly engine: Engine } | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Settles when all computations so far are done. */
  #queue: Promise<unknown> = Promise.resolve();

  /** @param config the database of the runs, and the file of the model that they were made with */
  constructor(config: Pick<BenchConfig, 'db' | 'model'>, compose: ComposeEngine) {
    this.#config = config;
    this.#compose = compose;
  }

  compute(
    turn: TurnRef,
    onProgress: (done: number, of: number) => void,
    signal: AbortSignal,
  ): Promise<AttributionRecord> {
    return this.#afterOthers(() => this.#compute(turn, onProgress, signal));
  }

  /** Waits for computations under way, and releases the model. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#afterOthers(() => this.#release());
  }

  #afterOthers<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #compute(
    turn: TurnRef,
    onProgress: (done: number, of: number) => void,
    signal: AbortSignal,
  ): Promise<AttributionRecord> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    try {
      using database = openStoredRuns(this.#config.db);
      const run = findRun(database, turn.run);
      const stored = new TurnRepository(database)
        .find(run.id, turn.item, turn.arm)
        .find(({ repeat, turn: number }) => repeat === turn.repeat && number === turn.turn);
      if (stored === undefined) {
        const which = `turn ${turn.turn} of item ${turn.item}, arm ${turn.arm}, repeat ${turn.repeat}`;
        throw new BenchError('not-found', `run "${run.name}" has no ${which}`, 'choose one that the run holds');
      }
      const attribution = await attribute(stored, await this.#engine(runModel(run)), { onProgress, signal });
      new AttributionRepository(database).put(stored.id, attribution);
      return attribution;
    } finally {
      this.#idle = setTimeout(() => void this.#afterOthers(() => this.#release()), IDLE_MS).unref();
    }
  }

  /** Runs differ in model, window and threads: one engine is held at a time. */
  async #engine(run: RunModel): Promise<Engine> {
    const wanted = JSON.stringify(run);
    if (this.#loaded?.wanted === wanted) return this.#loaded.engine;
    await this.#release();
    const engine = await loadRunModel(run, this.#config.model, this.#compose);
    this.#loaded = { wanted, engine };
    return engine;
  }

  async #release(): Promise<void> {
    clearTimeout(this.#idle);
    const loaded = this.#loaded;
    this.#loaded = undefined;
    await loaded?.engine[Symbol.asyncDispose]();
  }
}
