import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import type { IsolationProbe } from '../../../store/records/run-probes.ts';
import type { UserShare } from '../../../store/records/user-bundle.ts';
import { RunUserRepository } from '../../../store/run-user-repository.ts';
import type { PlanUser } from '../plan/plan-users.ts';
import type { TurnSample } from '../prove/turn-sample.ts';

/** A part of a run that one process does as a whole: all turns of a user, or the isolation probe. */
export type Unit = PlanUser | 'isolation probe';

/** What a unit leaves beside its turns. */
export interface UnitResult {
  readonly share: UserShare;
  readonly isolation?: IsolationProbe | null;
}

/**
 * Divides a run among processes. Implemented on rows of a SQLite database (`RowClaims`: worker processes; a shard `i/n` is a filter
 * in front) and on a queue in PostgreSQL (`QueueClaims`).
 */
export interface Claims {
  /** Aborted when the current unit must end. */
  readonly signal: AbortSignal;
  /** Claims a unit that no other process has; null if none is left. */
  next(): Promise<Unit | null>;
  /**
   * Writes a turn of a claimed user in one transaction.
   * @throws BenchError `database` if another process has the user now
   */
  put(userId: string, write: () => void): void;
  /** Ends a claim whose turns are all written. */
  done(unit: Unit, result: UnitResult): Promise<void>;
  /** Ends a claim that failed. @throws the error, unless this process can go on with another unit */
  failed(unit: Unit, error: unknown): Promise<void>;
}

/** Claims of the processes that share one database. */
export class RowClaims implements Claims {
  readonly signal: AbortSignal;
  readonly #database: BenchDatabase;
  readonly #rows: RunUserRepository;
  readonly #worker: string;
  readonly #wait: (() => Promise<void>) | undefined;
  #open: readonly PlanUser[];

  /**
   * @param users in the order in which they are claimed
   * @param options.worker the name of this process
   * @param options.wait resolves when a user may have become free; without it `next` returns null while others have all that are left
   */
  constructor(
    database: BenchDatabase,
    runId: string,
    users: readonly PlanUser[],
    options: { readonly worker: string; readonly signal: AbortSignal; readonly wait?: () => Promise<void> },
  ) {
    this.#database = database;
    this.#rows = new RunUserRepository(database, runId);
    this.#open = users;
    this.#worker = options.worker;
    this.signal = options.signal;
    this.#wait = options.wait;
  }

  async next(): Promise<Unit | null> {
    for (;;) {
      for (const user of this.#open) {
        const claim = this.#rows.claim(user, this.#worker);
        if (claim !== 'taken') this.#open = this.#open.filter((one) => one !== user);
        if (claim === 'claimed') return user;
      }
      if (this.#open.length === 0 || this.#wait === undefined) return null;
      await this.#wait();
    }
  }

  put(userId: string, write: () => void): void {
    this.#database.transaction(() => {
      this.#rows.requireHeld(userId, this.#worker);
      write();
    });
  }

  done(unit: Unit, { share }: UnitResult): Promise<void> {
    if (unit !== 'isolation probe') this.#rows.finish(unit.userId, this.#worker, share);
    return Promise.resolve();
  }

  failed(_: Unit, error: unknown): Promise<void> {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}

/**
 * The order in which several workers claim users: the most work first, so that the last ones, during which some workers have nothing
 * left to do, are short. Users of equal work stay in the order of the plan.
 */
export function claimOrder(
  users: readonly PlanUser[],
  run: { readonly arms: readonly ArmTraits[]; readonly repeats: number; readonly sample: Pick<TurnSample, 'has'> },
): readonly PlanUser[] {
  // A proof takes about as long as a turn.
  const proofs = ({ user }: PlanUser): number =>
    user.items.flatMap((item) =>
      run.arms.flatMap((arm) =>
        Array.from({ length: run.repeats }, (_, repeat) => repeat).filter((repeat) =>
          run.sample.has(arm, item, repeat),
        ),
      ),
    ).length;
  const work = new Map(users.map((user) => [user, user.turns + proofs(user)]));
  return users.toSorted((a, b) => work.get(b)! - work.get(a)!);
}
