import { setTimeout as wait } from 'node:timers/promises';
import { BenchError } from '../../../base/bench-error.ts';
import { type Claim, LEASE_S, type QueueWriter } from '../../../store/queue/queue-writer.ts';
import type { PlannedRun } from '../../../store/queue/queue-reader.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import { TokenPieceRepository } from '../../../store/token-piece-repository.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import { readUserRows } from '../../../store/transfer-user-rows.ts';
import type { RunResources } from '../open-run-resources.ts';
import { recheckUsers } from '../prove/recheck-turns-from-data.ts';
import { sumByName } from '../workers/add-counts.ts';
import { machineLoad } from '../run-level-results.ts';
import type { Claims, Unit, UnitResult } from '../workers/claims.ts';
import { makeBundle, packBundle, promptTokenIds, type WorkerState } from './pack-results.ts';
import { ISOLATION_POSITION } from './plan-queued-run.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
const BEAT_MS = 5000;
/** Consecutive unexplained failures that stop a worker: its engine may be faulty. */
const MAX_FAILURES = 2;

interface QueueMember {
  readonly writer: QueueWriter;
  readonly planned: PlannedRun;
  readonly worker: string;
  readonly signal: AbortSignal;
  readonly onNote?: ((note: string) => void) | undefined;
}

/** Claims units of a queue in PostgreSQL. A unit's rows stay in the worker's database until the queue has its results. */
export class QueueClaims implements Claims, AsyncDisposable {
  readonly stored = { users: 0, turns: 0 };
  readonly #member: QueueMember;
  readonly #bench: RunResources['bench'];
  readonly #timer = setInterval(() => void this.#beat(), BEAT_MS);
  #claim: Claim | undefined;
  #lost = new AbortController();
  /** By `performance.now`: the queue's last answer, and its first answer after the last outage. */
  #heard = performance.now();
  #steadySince = performance.now();
  #load: RunProbes['load'];
  #reread: RunProbes['reread'];
  #failures = 0;
  #ended = 'done';

  constructor(member: QueueMember, bench: RunResources['bench']) {
    this.#member = member;
    this.#bench = bench;
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#member.signal, this.#lost.signal]);
  }

  async next(): Promise<Unit | null> {
    const { writer, planned, worker, signal } = this.#member;
    try {
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        // After an outage of the queue all workers seem silent: wait for a lease before taking over units.
        const reaps = performance.now() - this.#steadySince > LEASE_S * 1000;
        const claim = await writer.claim(planned.id, worker, { reaps, signal });
        if (claim !== undefined) {
          this.#lost = new AbortController();
          this.#claim = claim;
          const { position } = claim;
          return position === ISOLATION_POSITION ? 'isolation probe' : this.#bench.planned[position]!;
        }
        if ((await writer.countOpen(planned.id, signal)) === 0) return null;
        await wait(pause * (0.5 + Math.random()), undefined, { signal });
      }
    } catch (error) {
      throw this.#end(error);
    }
  }

  put(_: string, write: () => void): void {
    this.#bench.database.transaction(write);
  }

  async done(unit: Unit, { share, isolation }: UnitResult): Promise<void> {
    const { writer, planned, signal, onNote } = this.#member;
    const { database, engine, runId } = this.#bench;
    this.#load = machineLoad(this.#load);
    const audit = await engine.audit({ signal });
    if (unit !== 'isolation probe') {
      const reread = await recheckUsers(this.#bench, [unit]);
      this.#reread = this.#reread === undefined ? reread : sumByName([this.#reread, reread]);
    }
    const counts = this.#reread === undefined ? share.counts : { ...share.counts, reread: this.#reread };
    const state: WorkerState = { share: { ...share, counts }, load: this.#load, ...(audit === null ? {} : { audit }) };
    let bundle;
    if (unit === 'isolation probe') {
      bundle = await packBundle({ isolation: isolation ?? null, ...state });
    } else {
      const rows = readUserRows(database, { runId, userId: unit.userId });
      const { info } = engine;
      const pieces = new TokenPieceRepository(database).find(info.modelSha256 ?? info.model.name, promptTokenIds(rows));
      bundle = await packBundle(makeBundle(unit.userId, rows, pieces, state));
    }
    const claim = this.#claim!;
    this.#claim = undefined;
    const outcome = await writer.store(claim, planned.planId, bundle, signal).catch((error: unknown) => {
      this.#claim = claim;
      throw error;
    });
    this.#forget(unit);
    this.#failures = 0;
    if (outcome === 'stale') {
      onNote?.(`${unitName(unit)} was given to another worker: the results are dropped`);
      return;
    }
    onNote?.(`${unitName(unit)}: ${bundle.turns} turns stored`);
    this.stored.users += unit === 'isolation probe' ? 0 : 1;
    this.stored.turns += bundle.turns;
  }

  async failed(unit: Unit, error: unknown): Promise<void> {
    const { writer, signal, onNote } = this.#member;
    const claim = this.#claim!;
    this.#claim = undefined;
    // Discards time and tokens of the failed unit, whose turns are not stored.
    await this.#bench.clock.take();
    this.#forget(unit);
    if (signal.aborted) {
      await ignoreUnreachable(writer.giveBack(claim));
      throw this.#end(error);
    }
    if (this.#lost.signal.aborted) {
      onNote?.(`${unitName(unit)} was given to another worker: this one was silent`);
      this.#failures = 0;
      return;
    }
    const { message } = error as Error;
    await ignoreUnreachable(writer.fail(claim, message));
    // The worker's disk or engine failed: the next unit would fail too.
    if (error instanceof BenchError) throw this.#end(error);
    onNote?.(`${unitName(unit)} failed: ${message}`);
    if (++this.#failures < MAX_FAILURES) return;
    const failures = `${this.#failures} users failed one after the other`;
    throw this.#end(new BenchError('bad-state', failures, 'see why: dki-bench queue status --queue …'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await ignoreUnreachable(this.#member.writer.leave(this.#member.worker, this.#ended));
  }

  #end(error: unknown): Error {
    this.#ended = this.#member.signal.aborted ? 'interrupted' : (error as Error).message;
    return error as Error;
  }

  #forget(unit: Unit): void {
    const { database, runId } = this.#bench;
    if (unit !== 'isolation probe') new TurnRepository(database).deleteUser(runId, unit.userId);
  }

  async #beat(): Promise<void> {
    // Read before the call, because the answer omits a unit that is claimed meanwhile.
    const [claim, lost] = [this.#claim, this.#lost];
    try {
      const held = await this.#member.writer.beat(this.#member.worker);
      const now = performance.now();
      if (now - this.#heard > (LEASE_S * 1000) / 2) this.#steadySince = now;
      this.#heard = now;
      if (claim !== undefined && claim === this.#claim && !held.includes(claim.position)) lost.abort();
    } catch {
      // The queue is unreachable. Storing the results will show whether the claim still holds.
    }
  }
}

function unitName(unit: Unit): string {
  return unit === 'isolation probe' ? 'the isolation probe' : `user ${unit.userId}`;
}

/** Ignores that the queue is unreachable: it notices by itself that the worker is silent. */
async function ignoreUnreachable(call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
  }
}
