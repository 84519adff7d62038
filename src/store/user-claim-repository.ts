import { and, asc, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { BenchError } from '../base/bench-error.ts';
import type { PlannedUser } from './records/run-record.ts';
import { noBooks, type UserShare, userShare } from './records/worker-result-bundle.ts';
import { type BenchDatabase, Repository } from './database.ts';
import { checkStoredRecord } from './check-stored-record.ts';
import { runUsers } from './schema.ts';
import { TurnRepository } from './turn-repository.ts';

/** In place of the worker of an unfinished user that was given back. */
const RELEASED = '';

/** Outcome of a claim: the user belongs to this worker now, to another worker, or was already finished. */
export type Claim = 'claimed' | 'taken' | 'finished';

/** Claims of workers on users of a run, and which users are finished; each user has one worker at a time. */
export class UserClaimRepository extends Repository {
  readonly #runId: string;

  constructor(database: BenchDatabase, runId: string) {
    super(database);
    this.#runId = runId;
  }

  /** Claims a user for a worker; of several that try at once, one succeeds. */
  claim(user: PlannedUser, worker: string): Claim {
    const { userId, position } = user;
    return this.database.transaction((query) => {
      const isFinished = this.isFinished(user);
      const begun = this.#find(userId);
      if (begun?.worker === RELEASED) {
        query.update(runUsers).set({ worker }).where(this.#is(userId)).run();
        return 'claimed';
      }
      if (begun !== undefined) return isFinished ? 'finished' : 'taken';
      const finishedAt = isFinished ? Date.now() : null;
      query.insert(runUsers).values({ runId: this.#runId, userId, position, worker, finishedAt }).run();
      return isFinished ? 'finished' : 'claimed';
    });
  }

  isFinished({ userId, turns }: PlannedUser): boolean {
    const begun = this.#find(userId);
    if (begun !== undefined) return begun.finishedAt !== null;
    // Runs from before claims existed have only their turns.
    return (new TurnRepository(this.database).countByUser(this.#runId, userId).get(userId) ?? 0) === turns;
  }

  /** Call in the transaction that writes the user's rows. @throws BenchError `database` if another worker has the user now */
  requireClaim(userId: string, worker: string): void {
    const held = this.#find(userId);
    if (held?.worker === worker && held.finishedAt === null) return;
    const message = `${this.database.path}: another process has taken over user ${userId}`;
    throw new BenchError('database', message, 'nothing is lost: it runs all turns of this user');
  }

  /** Notes that all turns of a user are stored. @throws BenchError as `requireClaim` */
  finish(userId: string, worker: string, share: UserShare): void {
    this.database.transaction((query) => {
      this.requireClaim(userId, worker);
      query.update(runUsers).set({ finishedAt: Date.now(), share }).where(this.#is(userId)).run();
    });
  }

  /**
   * Gives back the unfinished users of a worker that has ended. They still count as unfinished, since turns of theirs may be stored.
   * @param worker default: all workers
   */
  release(worker?: string): void {
    const unfinished = and(
      eq(runUsers.runId, this.#runId),
      isNull(runUsers.finishedAt),
      worker === undefined ? undefined : eq(runUsers.worker, worker),
    );
    this.database.guard((query) => query.update(runUsers).set({ worker: RELEASED }).where(unfinished).run());
  }

  /** Forgets that a user was begun, or finished. */
  forget(userId: string): void {
    this.database.guard((query) => query.delete(runUsers).where(this.#is(userId)).run());
  }

  /**
   * Returns what users have finished since the last call, oldest first, to be added to the run's record in the same transaction.
   * The last share of each worker is returned again, without its books, since its counts are totals.
   */
  takeShares(): { readonly worker: string; readonly share: UserShare }[] {
    const open = and(eq(runUsers.runId, this.#runId), isNotNull(runUsers.share));
    return this.database.transaction((query) => {
      const rows = query.select().from(runUsers).where(open).orderBy(asc(runUsers.finishedAt)).all();
      query.update(runUsers).set({ share: null }).where(open).run();
      const last = new Map(rows.map((row) => [row.worker, row]));
      for (const { userId, share } of last.values()) {
        const counted = { share: { ...share!, books: noBooks } };
        query.update(runUsers).set(counted).where(this.#is(userId)).run();
      }
      return rows.map(({ userId, worker, share }) => ({
        worker,
        share: checkStoredRecord(userShare, share, `the share of user ${userId}`),
      }));
    });
  }

  /** Places in the plan of the users that were begun; empty for runs from before claims existed. */
  places(): ReadonlyMap<string, number> {
    return new Map(this.#rows().map(({ userId, position }) => [userId, position]));
  }

  /** Users that were begun but not finished; null for runs from before claims existed. */
  unfinished(): ReadonlySet<string> | null {
    const rows = this.#rows();
    if (rows.length === 0) return null;
    return new Set(rows.filter(({ finishedAt }) => finishedAt === null).map(({ userId }) => userId));
  }

  /** The finished users, and the worker of each, in a merged run the part; empty for runs from before claims existed. */
  finished(): ReadonlyMap<string, string> {
    const finished = this.#rows().filter(({ finishedAt }) => finishedAt !== null);
    return new Map(finished.map(({ userId, worker }) => [userId, worker]));
  }

  #rows() {
    return this.query<{ userId: string; position: number; worker: string; finishedAt: number | null }>(
      sql`SELECT user_id AS userId, position, worker, finished_at AS finishedAt FROM run_users
        WHERE run_id = ${this.#runId} ORDER BY position`,
    );
  }

  #find(userId: string) {
    return this.select(runUsers, this.#is(userId))[0];
  }

  #is(userId: string): SQL | undefined {
    return and(eq(runUsers.runId, this.#runId), eq(runUsers.userId, userId));
  }
}
