import { TurnRepository } from '../../store/turn-repository.ts';
import type { CellsSelfTest } from '../../store/records/run-probes.ts';
import type { WorkerCounts } from '../../store/records/user-share.ts';
import { TurnProver } from './prove/turn-prover.ts';
import { cheapestItem } from './run-estimate.ts';
import { type RunBench, UserRun } from './user-run.ts';
import { warmUp } from './warm-up.ts';

/** Listeners to a worker's progress. */
export interface AskingHooks {
  /** Called after every turn, with the number of turns that the user has taken. */
  readonly onTurn: (turns: number) => void;
  /** Called when all turns of a user are stored. */
  readonly onUser: () => Promise<void>;
  readonly signal: AbortSignal;
  /** The process has taken no turn yet: it warms up on the first user whom it claims, while it waits. */
  readonly warmsUp: boolean;
}

/**
 * Asks users of the run, each from the beginning, until other workers have all who are left, or none is.
 * @param selfTested gives the self-test of the model's cells, before which no turn is taken
 * @throws the reason of an aborted signal; users who were finished are stored
 */
export async function askUsers(
  bench: RunBench,
  selfTested: () => Promise<CellsSelfTest | undefined>,
  { onTurn, onUser, signal, warmsUp }: AskingHooks,
): Promise<void> {
  const { clock, database, queue, runId, sample } = bench;
  const turns = new TurnRepository(database);
  let prover: TurnProver | undefined;
  let isWarm = !warmsUp;
  for (let user = queue.next(); user !== undefined; user = queue.next()) {
    const { userId } = user;
    const userRun = new UserRun(bench, user);
    const cheapest = cheapestItem([user.user]);
    if (!isWarm && cheapest !== undefined) await clock.time('warmUp', () => warmUp(userRun, cheapest.item, signal));
    isWarm = true;
    prover ??= new TurnProver(bench, sample, await selfTested());
    turns.deleteUser(runId, userId);
    let taken = 0;
    await userRun.run(prover, () => onTurn(++taken), signal);
    queue.finish(userId, { books: await clock.take(), counts: countsOf(bench) });
    await onUser();
  }
}

/** Counts of this process so far. */
export function countsOf({ arms, keeper }: RunBench): WorkerCounts {
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
