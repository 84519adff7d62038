import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../config/bench-error.ts';
import { InfluenceRepository } from '../db/influence-repository.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import { influenceOf } from '../eval/influence/influence-of.ts';
import { loadRunModel, type RunModel, runModel } from '../eval/influence/model-of-run.ts';
import type { Influence, InfluencePort } from '../inspect/influence-port.ts';
import type { TurnRef } from '../inspect/links.ts';
import type { LanguageModel } from '../llm/language-model.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

/** How long a model that nobody asks stays in memory. */
const IDLE_MS = 60_000;

/**
 * Computes influences one after the other and stores them, through a connection of its own. The model is loaded when it is
 * first needed, and given back a minute after the last computation.
 */
export class InfluenceService implements InfluencePort, AsyncDisposable {
  readonly #config: Pick<BenchConfig, 'db' | 'model'>;
  #loaded: { readonly wanted: string; readonly model: LanguageModel } | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Ends when all that was asked for so far is done. */
  #queue: Promise<unknown> = Promise.resolve();

  /** @param config the database of the runs, and the file of the model that they were made with */
  constructor(config: Pick<BenchConfig, 'db' | 'model'>) {
    this.#config = config;
  }

  compute(turn: TurnRef, onProgress: (done: number, of: number) => void, signal: AbortSignal): Promise<Influence> {
    return this.#afterOthers(() => this.#compute(turn, onProgress, signal));
  }

  /** Waits for what is under way, and gives the model back. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#afterOthers(() => this.#giveBack());
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
  ): Promise<Influence> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    try {
      using database = openStoredRuns(this.#config.db);
      const run = findRun(database, turn.run);
      const row = new TurnRepository(database)
        .find(run.id, turn.item, turn.arm)
        .find(({ repeat, turn: number }) => repeat === turn.repeat && number === turn.turn);
      if (row === undefined) {
        const which = `turn ${turn.turn} of item ${turn.item}, arm ${turn.arm}, repeat ${turn.repeat}`;
        throw new BenchError('not-found', `run "${run.name}" has no ${which}`, 'choose one that the run holds');
      }
      const influence = await influenceOf(row, await this.#model(runModel(run)), { onProgress, signal });
      new InfluenceRepository(database).put(row.id, influence);
      return influence;
    } finally {
      this.#idle = setTimeout(() => void this.#afterOthers(() => this.#giveBack()), IDLE_MS).unref();
    }
  }

  /** Runs differ in model, window and threads: one of them is held at a time. */
  async #model(run: RunModel): Promise<LanguageModel> {
    const wanted = JSON.stringify(run);
    if (this.#loaded?.wanted === wanted) return this.#loaded.model;
    await this.#giveBack();
    const model = await loadRunModel(run, this.#config.model);
    this.#loaded = { wanted, model };
    return model;
  }

  async #giveBack(): Promise<void> {
    clearTimeout(this.#idle);
    const loaded = this.#loaded;
    this.#loaded = undefined;
    await loaded?.model.dispose();
  }
}
