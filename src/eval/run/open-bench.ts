import type { BenchConfig } from '../../config/bench-config.ts';
import type { BenchDatabase } from '../../store/database.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { BenchSystem } from '../../systems/contracts.ts';
import { ConversationLog } from '../../systems/conversation-log.ts';
import { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { reserveFor } from '../../systems/prompt/build-prompt.ts';
import { metricsOfRun, successMetric } from '../analysis/metrics/run-metrics.ts';
import { storesTexts } from '../analysis/redact.ts';
import { openRunRetriever, systemParts } from './bench-parts.ts';
import { controlUsers } from './workers/negative-control.ts';
import { TokenPieces } from './observe/token-pieces.ts';
import { ownMetrics } from './bench-parts.ts';
import { type PlanUser, planUsers, shardUsers } from './plan/plan-users.ts';
import type { PreparedSuite } from './plan/prepared-suite.ts';
import { TurnSample } from './prove/turn-sample.ts';
import { TurnRecorder } from './observe/turn-recorder.ts';
import { RunClock } from './run-clock.ts';
import type { OpenArm, RunBench } from './run-bench.ts';
import { claimOrder } from './workers/claims.ts';

/** The arms of a run, open, with everything that their turns need except claims. */
export interface OpenBench extends AsyncDisposable {
  readonly bench: Omit<RunBench, 'claims'>;
  /** The users of this run in the order in which processes claim them. */
  readonly claimed: readonly PlanUser[];
}

/** Opens what a process needs to take turns of a run. */
export async function openBench(
  prepared: PreparedSuite,
  database: BenchDatabase,
  run: RunRecord,
  judge?: RunBench['judge'],
): Promise<OpenBench> {
  const { parts, place, settings, stores, suite, users } = prepared;
  const { engine, embeddings } = parts;
  const { seed, repeats, topK, threshold } = settings;
  const retriever = await openRunRetriever(parts, settings, `${run.id}${place.suffix}`, place.folder);
  const kept = { storesTexts: storesTexts(run) };
  const keeper = new MemoryKeeper({ retriever, embeddings, database, runId: run.id, ...kept });
  const arms = await openArms(prepared, settings, run.id, keeper);
  const traits = prepared.arms.map((arm) => arm.traits);
  const planned = shardUsers(planUsers(users, traits, repeats), settings);
  const sample = new TurnSample(users, traits, { seed, repeats });
  const bench: OpenBench['bench'] = {
    runId: run.id,
    suite,
    users,
    planned,
    engine,
    database,
    keeper,
    sharesStore: stores.shared,
    sample,
    controlUsers: await controlUsers(users),
    embeddings,
    clock: new RunClock(engine, embeddings),
    scoring: await engine.openSession(`${run.id}/probe`),
    scoresAnswers: suite.scoresAnswers ?? false,
    reserveTokens: reserveFor(engine.info.contextTokens, settings.reserve),
    log: new ConversationLog(database, run.id, kept),
    ...kept,
    pieces: new TokenPieces(engine, database),
    arms,
    metrics: ownMetrics(settings),
    ...(judge === undefined ? {} : { judge }),
    success: successMetric(metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] })).name,
    settings: { seed, repeats, topK, threshold },
  };
  return {
    bench,
    claimed: settings.workers === undefined ? planned : claimOrder(planned, { arms: traits, repeats, sample }),
    [Symbol.asyncDispose]: async () => {
      for (const { system } of arms) await system[Symbol.asyncDispose]();
      await retriever.close();
    },
  };
}

/**
 * Opens every arm on the same parts, so that only memories and prefill strategy differ. Arms that keep their session have one each;
 * all others share one, which each of them clears or replaces before its turn.
 */
async function openArms(
  { arms, parts, stores }: PreparedSuite,
  config: BenchConfig,
  runId: string,
  memories: MemoryKeeper,
): Promise<readonly OpenArm[]> {
  const shared = await parts.engine.openSession(runId);
  const open: OpenArm[] = [];
  for (const arm of arms) {
    const { name, keepsSession } = arm.traits;
    const session = keepsSession ? await parts.engine.openSession(`${runId}/${name}`) : shared;
    const recorder = new TurnRecorder(parts.engine);
    const reopen = (): BenchSystem =>
      arm.open(recorder.parts(systemParts(parts, session, config, memories), stores.opener(name)));
    open.push({ arm, system: reopen(), session, recorder, reopen });
  }
  return open;
}
