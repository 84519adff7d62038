import type { BenchDatabase } from '../../store/database.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { DatabaseConversationLog } from '../../systems/conversation-log.ts';
import { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { reserveFor } from '../../systems/prompt/build-prompt.ts';
import { metricsOfRun, successMetric } from '../analysis/metrics/run-metrics.ts';
import { storesTexts } from '../analysis/texts/withheld-texts.ts';
import type { Judge } from './judge/judge.ts';
import { openRunRetriever } from './bench-parts.ts';
import { claimOrder } from './claim-order.ts';
import { donorsFor } from './donors.ts';
import { TokenPieces } from './observe/token-pieces.ts';
import { openArms } from './open-arms.ts';
import { ownMetrics } from './own-metrics.ts';
import type { PreparedSuite } from './prepared-suite.ts';
import { TurnSample } from './prove/turn-sample.ts';
import { RunClock } from './run-clock.ts';
import { usersOfShard } from './shard.ts';
import { UserQueue } from './user-queue.ts';
import type { RunBench } from './user-run.ts';
import { usersOfPlan } from './users-of-plan.ts';

/** The part that a process has in a run, beside asking its users. */
export interface BenchRole {
  /** The name under which it claims users. */
  readonly worker: string;
  readonly judge: Judge | undefined;
}

/** The arms of a run, open, with all that their turns need. */
export interface OpenBench extends AsyncDisposable {
  readonly bench: RunBench;
}

/** Opens what a process needs to ask users of a run. */
export async function openBench(
  prepared: PreparedSuite,
  database: BenchDatabase,
  run: RunRecord,
  { worker, judge }: BenchRole,
): Promise<OpenBench> {
  const { arms, parts, place, settings, stores, suite, users } = prepared;
  const { engine } = parts;
  const { seed, repeats, topK, threshold } = settings;
  const retriever = await openRunRetriever(parts, settings, `${run.id}${place.suffix}`, place.folder);
  const kept = { storesTexts: storesTexts(run) };
  const keeper = new MemoryKeeper(retriever, parts.embeddings, database, run.id, kept);
  const openedArms = await openArms(parts, stores, { config: settings, runId: run.id, arms }, keeper);
  const traits = arms.map((arm) => arm.traits);
  const planned = usersOfShard(usersOfPlan(users, traits, repeats), settings);
  const sample = new TurnSample(users, traits, { seed, repeats });
  const claimed = settings.workers === undefined ? planned : claimOrder(planned, { arms: traits, repeats, sample });
  const bench: RunBench = {
    ...{ runId: run.id, suite, users, planned, engine, database, keeper, sharesStore: stores.shared },
    queue: new UserQueue(database, run.id, claimed, worker),
    sample,
    donors: await donorsFor(users),
    embeddings: parts.embeddings,
    clock: new RunClock(engine, parts.embeddings),
    scoring: await engine.openSession(`${run.id}/probe`),
    scoresAnswers: suite.scoresAnswers ?? false,
    reserveTokens: reserveFor(engine.info.contextTokens, settings.reserve),
    log: new DatabaseConversationLog(database, run.id, kept),
    ...kept,
    pieces: new TokenPieces(engine, database),
    arms: openedArms,
    metrics: ownMetrics(settings),
    ...(judge === undefined ? {} : { judge }),
    success: successMetric(metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] })).name,
    settings: { seed, repeats, topK, threshold },
  };
  return {
    bench,
    [Symbol.asyncDispose]: async () => {
      for (const { system } of openedArms) await system[Symbol.asyncDispose]();
      await retriever.close();
    },
  };
}
