import { TurnRepository } from '../../db/turn-repository.ts';
import type { WorkerCounts } from '../../records/user-share.ts';
import type { TurnProver } from './prove/turn-prover.ts';
import { type RunBench, UserRun } from './user-run.ts';

/** Listeners to a worker's progress. */
export interface AskingHooks {
  /** Called after every turn, with the number of turns that the user has taken. */
  readonly onTurn: (turns: number) => void;
  /** Called when all turns of a user are stored. */
  readonly onUser: () => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Asks users of the run, each from the beginning, until other workers have all who are left, or none is.
 * @throws the reason of an aborted signal; users who were finished are stored
 */
export async function askUsers(bench: RunBench, prover: TurnProver, hooks: AskingHooks): Promise<void> {
  const { clock, database, queue, runId } = bench;
  const turns = new TurnRepository(database);
  for (let user = queue.next(); user !== undefined; user = queue.next()) {
    const { userId } = user;
    turns.deleteUser(runId, userId);
    let taken = 0;
    await new UserRun(bench, user).run(prover, () => hooks.onTurn(++taken), hooks.signal);
    queue.finish(userId, { books: await clock.take(), counts: countsOf(bench) });
    await hooks.onUser();
  }
}

/** Counts of this process so far. */
function countsOf({ arms, keeper }: RunBench): WorkerCounts {
  return {
    refusedCalls: Object.fromEntries(arms.map(({ arm, recorder }) => [arm.traits.name, recorder.refused])),
    kvStores: Object.fromEntries(
      arms.flatMap(({ arm, system }) => {
        const { kvStore } = system.getStats();
        return kvStore === undefined ? [] : [[arm.traits.name, kvStore]];
      }),
    ),
    retriever: keeper.stats(),
  };
}
