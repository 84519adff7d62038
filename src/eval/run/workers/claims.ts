import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import type { IsolationProbe } from '../../../store/records/run-probes.ts';
import type { UserShare } from '../../../store/records/worker-result-bundle.ts';
import { UserClaimRepository } from '../../../store/user-claim-repository.ts';
import type { PlanUser } from '../plan/plan-users.ts';
import type { TurnSample } from '../prove/turn-prover.ts';

/** A part of a run that one process does as a whole: all turns of a user, or the isolation probe. */
export type Unit = PlanUser | 'isolation probe';

export interface UnitResult {
  readonly share: UserShare;
  readonly isolation?: IsolationProbe | null;
}

/** Divides a run among processes: by rows in SQLite (`rowClaims`), or by a queue in PostgreSQL (`QueueClaims`). */
export interface Claims {
  /** Aborted when the current unit must end. */
  readonly signal: AbortSignal;
  /** Claims a unit that no other process has; null if none is left. */
  next(): Promise<Unit | null>;
  /** Writes a turn of a claimed user in a transaction. @throws BenchError `database` if another process has the user */
  put(userId: string, write: () => void): void;
  /** Ends a claim whose turns are all written. */
  done(unit: Unit, result: UnitResult): Promise<void>;
  /** Ends a claim that failed. @throws the error, unless this process can go on with another unit */
  failed(unit: Unit, error: unknown): Promise<void>;
}

interface RowClaimOptions {
  readonly worker: string;
  readonly signal: AbortSignal;
  /** Resolves when a user may be free. Without it, `next` returns null if other processes hold all remaining users. */
  readonly wait?: () => Promise<void>;
}

export function rowClaims(
  database: BenchDatabase,
  runId: string,
  users: readonly PlanUser[],
  { worker, signal, wait }: RowClaimOptions,
): Claims {
  const rows = new UserClaimRepository(database, runId);
  let open = users;
  return {
    signal,
    next: async () => {
      for (;;) {
        for (const user of open) {
          const claim = rows.claim(user, worker);
          if (claim !== 'taken') open = open.filter((one) => one !== user);
          if (claim === 'claimed') return user;
        }
        if (open.length === 0 || wait === undefined) return null;
        await wait();
      }
    },
    put: (userId, write) =>
      database.transaction(() => {
        rows.requireClaim(userId, worker);
        write();
      }),
    done: async (unit, { share }) => {
      if (unit !== 'isolation probe') rows.finish(unit.userId, worker, share);
    },
    failed: async (_, error) => {
      throw error;
    },
  };
}

/** The order in which several workers claim users: the most work first, so that the last ones are short. */
export function claimOrder(
  users: readonly PlanUser[],
  run: { readonly arms: readonly ArmTraits[]; readonly repeats: number; readonly sample: Pick<TurnSample, 'has'> },
): readonly PlanUser[] {
  const repeats = Array.from({ length: run.repeats }, (_, repeat) => repeat);
  const proofs = ({ user }: PlanUser): number =>
    user.items.flatMap((item) =>
      run.arms.flatMap((arm) => repeats.filter((repeat) => run.sample.has(arm, item, repeat))),
    ).length;
  // A proof takes about as long as a turn.
  const work = new Map(users.map((user) => [user, user.turns + proofs(user)]));
  return users.toSorted((a, b) => work.get(b)! - work.get(a)!);
}
