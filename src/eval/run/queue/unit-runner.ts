import type { BenchDatabase } from '../../../store/database.ts';
import { RunUserRepository } from '../../../store/run-user-repository.ts';
import { TokenPieceRepository } from '../../../store/token-piece-repository.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import { readUserRows } from '../../../store/user-rows.ts';
import type { BenchConfig } from '../../../config/bench-config.ts';
import type { EngineAudit } from '../../../store/records/engine-audit.ts';
import type { CellsSelfTest, RunProbes } from '../../../store/records/run-probes.ts';
import type { IsolationBundle, UserBundle } from '../../../store/records/user-bundle.ts';
import { askUsers, countsOf } from '../ask-users.ts';
import { machineLoad } from '../machine-load.ts';
import { probeBench } from '../probe-bench.ts';
import { UserQueue } from '../user-queue.ts';
import type { RunBench } from '../user-run.ts';
import { bundleOf, tokensOf } from './bundles.ts';
import { ISOLATION } from './plan-run.ts';

/** The parts of a process that does units of a plan. */
export interface UnitRunnerOptions {
  readonly bench: RunBench;
  readonly database: BenchDatabase;
  readonly config: BenchConfig;
  /** The self-test of the model's cells. */
  readonly cells: CellsSelfTest | undefined;
}

/** Does the units of a plan, one after the other, and makes a bundle of each; nothing of a unit stays behind it. */
export class UnitRunner {
  readonly #options: UnitRunnerOptions;
  readonly #users: RunUserRepository;
  readonly #turns: TurnRepository;
  #load: RunProbes['load'];
  #isWarm = false;

  constructor(options: UnitRunnerOptions) {
    this.#options = options;
    const { database, bench } = options;
    this.#users = new RunUserRepository(database, bench.runId);
    this.#turns = new TurnRepository(database);
  }

  /** @param position of a user in the plan, or that of the isolation probe @throws as `askUsers` */
  async do(position: number, signal: AbortSignal): Promise<UserBundle | IsolationBundle> {
    return position === ISOLATION ? await this.#probe(signal) : await this.#ask(position, signal);
  }

  /** Takes what a unit that failed has left: its books would count turns that are not there. */
  async drop(position: number): Promise<void> {
    await this.#options.bench.clock.take();
    this.#forget(position);
  }

  async #ask(position: number, signal: AbortSignal): Promise<UserBundle> {
    const { bench, cells, database } = this.#options;
    const { runId } = bench;
    const user = bench.planned[position]!;
    const queue = new UserQueue(database, runId, [user], runId);
    const quiet = { onTurn: () => undefined, onUser: () => Promise.resolve() };
    await askUsers({ ...bench, queue }, () => Promise.resolve(cells), { ...quiet, signal, warmsUp: !this.#isWarm });
    this.#isWarm = true;
    const { share } = this.#users.takeShares()[0]!;
    const rows = readUserRows(database, { runId, userId: user.userId });
    const { info } = bench.engine;
    const pieces = new TokenPieceRepository(database).find(info.modelSha256 ?? info.model.name, tokensOf(rows));
    const bundle = bundleOf(user.userId, rows, pieces, { share, ...(await this.#state(signal)) });
    this.#forget(position);
    return bundle;
  }

  async #probe(signal: AbortSignal): Promise<IsolationBundle> {
    const { bench, config } = this.#options;
    const isolation = await bench.clock.time('checks', () => probeBench(bench, config, signal));
    const share = { books: await bench.clock.take(), counts: countsOf(bench) };
    return { isolation, share, ...(await this.#state(signal)) };
  }

  async #state(
    signal: AbortSignal,
  ): Promise<{ readonly load: NonNullable<RunProbes['load']>; readonly audit?: EngineAudit }> {
    this.#load = machineLoad(this.#load);
    const audit = await this.#options.bench.engine.audit({ signal });
    return { load: this.#load, ...(audit === null ? {} : { audit }) };
  }

  #forget(position: number): void {
    const { bench } = this.#options;
    const user = bench.planned[position];
    if (user === undefined) return;
    this.#turns.deleteUser(bench.runId, user.userId);
    this.#users.forget(user.userId);
  }
}
