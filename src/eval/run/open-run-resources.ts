import { join } from 'node:path';
import { controlCharacters } from '../../base/control-characters.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import { isPublicDataset } from '../../config/public-datasets.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import { usesLanguageModel } from '../../retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { BenchSystem } from '../../systems/memory-system.ts';
import { RetrievalCounts } from '../../systems/retrieval-counts.ts';
import { ConversationLog } from '../../systems/conversation-log.ts';
import { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { reserveFor } from '../../systems/prompt/build-prompt.ts';
import { additionalMetrics, metricsOfRun, successMetric } from '../analysis/metrics/metric-selection.ts';
import { storesTexts } from '../analysis/text-restrictions.ts';
import { openRunRetriever } from './open-run-retriever.ts';
import { systemParts } from './system-parts-from-options.ts';
import type { Judge } from './judge/judge.ts';
import { controlUsers } from './turns/negative-control-memories.ts';
import { tokenPieces } from './observe/write-turns.ts';
import { shardUsers } from '../analysis/planned-sample.ts';
import { drawControlItems, planUsers } from './plan/plan-users.ts';
import type { PreparedSuite } from './plan/prepare-suite.ts';
import { drawTurnSample } from './prove/turn-prover.ts';
import { SharedBlocks } from './observe/shared-blocks.ts';
import { retrievalRecorder, TurnRecorder } from './observe/turn-recorder.ts';
import { PhaseTotals } from './run-level-results.ts';
import { type Claims, claimOrder } from './workers/claims.ts';

export function openRunDatabase({ db, databaseEcho }: Pick<BenchConfig, 'db' | 'databaseEcho'>): BenchDatabase {
  // SQL may contain texts of users: control characters would reach the terminal.
  const echo = (sql: string) => void process.stderr.write(`${sql.replaceAll(controlCharacters, ' ')}\n`);
  return openDatabase(databaseEcho ? { path: db, echo } : { path: db });
}

export interface OpenArm {
  readonly arm: Arm;
  readonly system: BenchSystem;
  readonly session: EngineSession;
  readonly recorder: TurnRecorder;
  readonly retrievals: RetrievalCounts;
  readonly reopen: () => BenchSystem;
}

/** The open arms of a run, with everything that their turns need except claims. */
export type RunResources = Awaited<ReturnType<typeof openRunResources>>;

export type RunBench = RunResources['bench'] & { readonly claims: Claims };

/** Opens what a process needs to take turns of a run. @param judge judges the answers after all turns */
export async function openRunResources(
  prepared: PreparedSuite,
  database: BenchDatabase,
  run: RunRecord,
  judge?: Judge,
) {
  const { parts, place, settings, stores, suite, users } = prepared;
  const { engine, embeddings } = parts;
  const { seed, repeats, topK, threshold, limit } = settings;
  const runName = `${run.id}${place.suffix}`;
  const retrievals = retrievalRecorder(await openRunRetriever(parts, settings, runName, place.folder));
  const { retriever } = retrievals;
  const keepsTexts = { storesTexts: storesTexts(run) };
  const keeper = new MemoryKeeper({ retriever, embeddings, database, runId: run.id, ...keepsTexts });
  const sharedBlocks = new SharedBlocks(engine);
  const arms = await openArms(prepared, run.id, keeper, sharedBlocks);
  const traits = prepared.arms.map((arm) => arm.traits);
  // A run that began without a sample of control items goes on without one.
  const controls = run.dataset.controlItems === undefined ? undefined : drawControlItems(users, traits, seed);
  const planned = shardUsers(planUsers(users, traits, { repeats, controls }), settings);
  const sample = drawTurnSample(users, traits, { seed, repeats, controls });
  const bench = {
    runId: run.id,
    suite,
    users,
    planned,
    engine,
    database,
    keeper,
    retrievals,
    /**
     * Opens a second retriever like the run's, without its token budget, to test the order of its memories; undefined if no
     * order can be expected.
     */
    openProbeRetriever: isOrderUnknown(prepared)
      ? undefined
      : () => {
          const { retrievalTokens: _, ...withoutBudget } = settings;
          return openRunRetriever(parts, withoutBudget, `${runName}/probe`, join(place.folder, 'probe'));
        },
    /** Files of the data; undefined if a public data set was converted. */
    dataFiles: dataFiles(prepared),
    sharesStore: stores.shared,
    /** Deletes the KV of a user that an interrupted process of this run wrote. */
    dropKv: (userId: string) => stores.forgetSince(userId, run.startedAt, engine),
    sample,
    controls,
    controlUsers: await controlUsers(users),
    embeddings,
    sharedBlocks,
    clock: new PhaseTotals(sharedBlocks, embeddings),
    scoring: await engine.openSession(`${run.id}/probe`),
    scoresAnswers: suite.scoresAnswers ?? false,
    reserveTokens: reserveFor(engine.info.contextTokens, settings.reserve),
    log: new ConversationLog(database, run.id, keepsTexts),
    ...keepsTexts,
    pieces: tokenPieces(engine, database),
    arms,
    metrics: additionalMetrics(settings),
    judge,
    success: {
      metric: successMetric(metricsOfRun({ dataset: run.dataset, ...run.plan })).name,
      version: run.plan.metricsVersion ?? 1,
    },
    settings: { seed, repeats, topK, threshold, itemsPerUser: limit && Math.ceil(limit / users.length) },
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

/** True if the order of retrieved memories is unpredictable: a language model rewrites questions, or the index is approximate. */
function isOrderUnknown({ settings: { retriever, cold, coldIndex }, parts }: PreparedSuite): boolean {
  if (parts.ownRetriever !== undefined) return true;
  if (retriever === 'hinted') return usesLanguageModel(parts.preRetrieval.config);
  return retriever === 'tiered' && cold !== undefined && coldIndex !== 'ivfflat';
}

function dataFiles({ suite, folder, settings }: PreparedSuite): readonly string[] | undefined {
  if (suite.data !== undefined) return suite.data.map(({ name }) => join(folder, `${name}.jsonl`));
  return settings.dataset.some(isPublicDataset) ? undefined : settings.dataset;
}

/** Opens every arm. Arms that keep their session have one each; all others share one. */
async function openArms(
  { arms, parts, settings, stores }: PreparedSuite,
  runId: string,
  memories: MemoryKeeper,
  blocks: SharedBlocks,
) {
  const shared = await parts.engine.openSession(runId);
  const open: OpenArm[] = [];
  for (const arm of arms) {
    const { name, keepsSession } = arm.traits;
    const session = keepsSession ? await parts.engine.openSession(`${runId}/${name}`) : shared;
    const recorder = new TurnRecorder(parts.engine, blocks);
    const retrievals = new RetrievalCounts();
    const openSystem = (counts: RetrievalCounts): BenchSystem => {
      const own = { ...systemParts(parts, session, settings, memories), retrievals: counts };
      return arm.open(recorder.parts(own, stores.opener(name)));
    };
    const reopen = (): BenchSystem => openSystem(new RetrievalCounts());
    open.push({ arm, system: openSystem(retrievals), session, recorder, retrievals, reopen });
  }
  return open;
}
