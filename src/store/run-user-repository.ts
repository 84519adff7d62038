import { and, asc, eq, isNotNull, isNull } from 'drizzle-orm';
import { BenchError } from '../base/bench-error.ts';
import { type UserShare, userShare } from './records/user-bundle.ts';
import type { BenchDatabase } from './database.ts';
import { readRecord } from './read-record.ts';
import { runUsers } from './schema.ts';
import { TurnRepository } from './turn-repository.ts';

/** A user of the plan of a run. */
export interface PlannedUser {
  readonly userId: string;
  /** Place among the users of the plan, from 0. */
  readonly position: number;
  /** Turns that the user takes in all. */
  readonly turns: number;
}

/** The outcome of a claim: the user is the worker's now, another's, or was finished before. */
export type Claim = 'claimed' | 'taken' | 'finished';

/** A share that stands in no record of the run yet, and the worker whose it is. */
export interface OpenShare {
  readonly worker: string;
  readonly share: UserShare;
}

/** The users of a run who were begun, and which worker has each: every user is one worker's at a time. */
export class RunUserRepository {
  readonly #database: BenchDatabase;
  readonly #runId: string;
  readonly #turns: TurnRepository;

  constructor(database: BenchDatabase, runId: string) {
    this.#database = database;
    this.#runId = runId;
    this.#turns = new TurnRepository(database);
  }

  /** Claims a user for a worker, of several that try at once for one of them. */
  claim(user: PlannedUser, worker: string): Claim {
    const { userId, position } = user;
    return this.#database.transaction(() => {
      const isFinished = this.isFinished(user);
      if (this.#find(userId) !== undefined) return isFinished ? 'finished' : 'taken';
      const finishedAt = isFinished ? Date.now() : null;
      this.#database.query.insert(runUsers).values({ runId: this.#runId, userId, position, worker, finishedAt }).run();
      return isFinished ? 'finished' : 'claimed';
    });
  }

  /** All turns of the user are there. */
  isFinished({ userId, turns }: PlannedUser): boolean {
    const begun = this.#find(userId);
    // Of a run that was begun before there were claims, by the turns.
    return begun === undefined ? this.#turns.count(this.#runId, userId) === turns : begun.finishedAt !== null;
  }

  /**
   * Lets nobody write for a user who was given to another since: call it in the transaction that writes.
   * @throws BenchError `database`
   */
  requireHeld(userId: string, worker: string): void {
    const held = this.#find(userId);
    if (held?.worker === worker && held.finishedAt === null) return;
    throw new BenchError(
      'database',
      `${this.#database.path}: user ${userId} is asked by another process now`,
      'nothing is lost: that one asks all of their questions',
    );
  }

  /** All turns of a user are there. @throws BenchError as `requireHeld` */
  finish(userId: string, worker: string, share: UserShare): void {
    this.#database.transaction(() => {
      this.requireHeld(userId, worker);
      this.#database.query.update(runUsers).set({ finishedAt: Date.now(), share }).where(this.#of(userId)).run();
    });
  }

  /** Gives back the users whom a worker that is gone had begun; without one, those of all workers. */
  release(worker?: string): void {
    this.#database.guard((query) =>
      query
        .delete(runUsers)
        .where(
          and(
            eq(runUsers.runId, this.#runId),
            isNull(runUsers.finishedAt),
            worker === undefined ? undefined : eq(runUsers.worker, worker),
          ),
        )
        .run(),
    );
  }

  /** Forgets that a user was begun, or finished. */
  forget(userId: string): void {
    this.#database.guard((query) => query.delete(runUsers).where(this.#of(userId)).run());
  }

  /** Takes the shares that stand in no record yet, in the order of the plan: call it in the transaction that writes them there. */
  takeShares(): OpenShare[] {
    const { query } = this.#database;
    const open = and(eq(runUsers.runId, this.#runId), isNotNull(runUsers.share));
    return this.#database.transaction(() => {
      const rows = query.select().from(runUsers).where(open).orderBy(asc(runUsers.finishedAt)).all();
      query.update(runUsers).set({ share: null }).where(open).run();
      return rows.map(({ userId, worker, share }) => ({
        worker,
        share: readRecord(userShare, share, `the share of user ${userId}`),
      }));
    });
  }

  /** The users who were begun by their place in the plan; none of a run that was begun before there were claims. */
  places(): ReadonlyMap<string, number> {
    return new Map(this.#rows().map(({ userId, position }) => [userId, position]));
  }

  /** Users who were begun and not finished; null for a run that was begun before there were claims. */
  underWay(): ReadonlySet<string> | null {
    const rows = this.#rows();
    const open = rows.filter(({ finishedAt }) => finishedAt === null);
    return rows.length === 0 ? null : new Set(open.map(({ userId }) => userId));
  }

  /** The worker or, in a merged run, the part that answered for each finished user. */
  sources(): ReadonlyMap<string, string> {
    const finished = this.#rows().filter(({ finishedAt }) => finishedAt !== null);
    return new Map(finished.map(({ userId, worker }) => [userId, worker]));
  }

  /** Users whose end was noted; none of a run that was begun before there were claims. */
  finished(): ReadonlySet<string> {
    return new Set(this.#rows().flatMap(({ userId, finishedAt }) => (finishedAt === null ? [] : [userId])));
  }

  #rows() {
    const { userId, position, worker, finishedAt } = runUsers;
    return this.#database.guard((query) =>
      query
        .select({ userId, position, worker, finishedAt })
        .from(runUsers)
        .where(eq(runUsers.runId, this.#runId))
        .orderBy(asc(position))
        .all(),
    );
  }

  #find(userId: string): { readonly worker: string; readonly finishedAt: number | null } | undefined {
    return this.#database.guard((query) =>
      query
        .select({ worker: runUsers.worker, finishedAt: runUsers.finishedAt })
        .from(runUsers)
        .where(this.#of(userId))
        .get(),
    );
  }

  #of(userId: string) {
    return and(eq(runUsers.runId, this.#runId), eq(runUsers.userId, userId));
  }
}
