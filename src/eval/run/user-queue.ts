import type { BenchDatabase } from '../../store/database.ts';
import { type PlannedUser, RunUserRepository } from '../../store/run-user-repository.ts';
import type { UserShare } from '../../store/records/user-share.ts';

/** The users of a run, of whom a worker claims one after the other: no two workers of a run have the same one. */
export class UserQueue<User extends PlannedUser = PlannedUser> {
  readonly #worker: string;
  readonly #users: RunUserRepository;
  /** Those who were not seen finished. */
  #open: readonly User[];

  /** @param planned in the order in which they are claimed @param worker the name under which this process claims, its alone */
  constructor(database: BenchDatabase, runId: string, planned: readonly User[], worker: string) {
    this.#worker = worker;
    this.#users = new RunUserRepository(database, runId);
    this.#open = planned;
  }

  /** All turns of all users are there; ask for the next one first. */
  get isFinished(): boolean {
    return this.#open.length === 0;
  }

  /** Claims the first user whom nobody has; undefined where others have all who are left. */
  next(): User | undefined {
    for (const user of this.#open) {
      const claim = this.#users.claim(user, this.#worker);
      if (claim !== 'taken') this.#open = this.#open.filter((one) => one !== user);
      if (claim === 'claimed') return user;
    }
    return undefined;
  }

  /** Call it in each transaction that writes for a user. @throws BenchError `database` where another process has the user now */
  requireHeld(userId: string): void {
    this.#users.requireHeld(userId, this.#worker);
  }

  /** All turns of a user who was claimed are there. */
  finish(userId: string, share: UserShare): void {
    this.#users.finish(userId, this.#worker, share);
  }
}
