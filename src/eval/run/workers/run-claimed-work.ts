import type { CellsSelfTest, IsolationProbe } from '../../../store/records/run-probes.ts';
import type { WorkerCounts } from '../../../store/records/worker-result-bundle.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import { isProbed, probeIsolation, probeSize, probeTurns, sessionPrefix } from '../prove/isolation-probe.ts';
import { SessionRepository } from '../../../store/session-and-message-repositories.ts';
import { TurnProver } from '../prove/turn-prover.ts';
import { cheapestItem } from '../plan/run-estimate.ts';
import type { RunBench } from '../open-run-resources.ts';
import { UserTurns } from '../turns/take-user-turns.ts';
import type { PlanUser } from '../plan/plan-users.ts';

interface UnitHooks {
  readonly onTurn?: (turns: number) => void;
  readonly onUser?: () => Promise<void> | void;
  readonly warmsUp: boolean;
}

/** Claims and runs units of a run until none is left. @throws the reason of `signal` if it aborts; users finished before are stored */
export async function runClaimedWork(
  bench: RunBench,
  cellsSelfTest: () => Promise<CellsSelfTest | undefined>,
  { onTurn, onUser, warmsUp }: UnitHooks,
): Promise<void> {
  const { claims, clock, database, runId, sample } = bench;
  let prover: TurnProver | undefined;
  let isWarm = !warmsUp;
  const runUser = async (user: PlanUser): Promise<void> => {
    const cheapest = cheapestItem([user.user]);
    if (!isWarm && cheapest !== undefined) {
      await clock.time('warmUp', () => new UserTurns(bench, user).warmUp(cheapest.item, claims.signal));
    }
    isWarm = true;
    prover ??= new TurnProver(bench, sample, await cellsSelfTest());
    // Deletes what an interrupted process and the warm-up have stored. The turns below store the memories again.
    new TurnRepository(database).deleteUser(runId, user.userId);
    if (bench.sharesStore) await bench.dropKv(user.userId);
    let turns = 0;
    await new UserTurns(bench, user).run(prover, () => onTurn?.(++turns), claims.signal);
  };
  for (let unit = await claims.next(); unit !== null; unit = await claims.next()) {
    try {
      let isolation: IsolationProbe | null | undefined;
      if (unit !== 'isolation probe') await runUser(unit);
      else isolation = await clock.time('checks', () => probeOpenArms(bench, claims.signal));
      const share = { books: await clock.take(), counts: workerCounts(bench) };
      await claims.done(unit, isolation === undefined ? { share } : { share, isolation });
      if (unit !== 'isolation probe') await onUser?.();
    } catch (error) {
      await claims.failed(unit, error);
    }
  }
}

/** Probes the open arms of a run; null if the run has none to probe. */
export async function probeOpenArms(
  { arms, database, sharedBlocks, keeper, runId, users, settings }: RunBench,
  signal: AbortSignal,
  onStep?: (done: number, total: number) => void,
): Promise<IsolationProbe | null> {
  const { seed, topK, threshold } = settings;
  const systems = arms
    .filter(({ arm }) => isProbed(arm.traits))
    .map(({ arm, system, reopen }) => ({ traits: arm.traits, system, reopen }));
  if (systems.length === 0) return null;
  const questions = users.reduce((sum, { items }) => sum + items.length, 0);
  // Deletes the sessions of an interrupted probe.
  new SessionRepository(database).deleteBeginningWith(sessionPrefix(runId));
  const subject = { runId, engine: sharedBlocks, keeper, systems, topK, threshold };
  let done = 0;
  const onAnswer = (): void => onStep?.(++done, systems.length * probeTurns(questions));
  const probe = () => probeIsolation(subject, seed, { size: probeSize(questions), onAnswer, signal });
  // The meter of each arm must book what the probe evaluates.
  return await arms.reduce(
    (work, { recorder }) =>
      () =>
        recorder.declared(work),
    probe,
  )();
}

function workerCounts({ arms, keeper }: RunBench): WorkerCounts {
  const kvStores = arms.flatMap(({ arm, system }) => {
    const { kvStore } = system.getStats();
    return kvStore === undefined ? [] : [[arm.traits.name, kvStore] as const];
  });
  return {
    refusedCalls: Object.fromEntries(arms.map(({ arm, recorder }) => [arm.traits.name, recorder.refused])),
    kvStores: Object.fromEntries(kvStores),
    retriever: keeper.stats(),
  };
}
