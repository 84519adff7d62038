import { join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import type { BenchConfig } from '../../../config/bench-config.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { meterDifference } from '../../../engine/token-meter.ts';
import { kvBytes } from '../../../engine/sequence-state.ts';
import type { ServedLoad, ServingMeasurement } from '../../../store/records/suite-measurements.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';
import { RetrievalCounts } from '../../../systems/retrieval-counts.ts';
import { SystemPool } from '../../../systems/system-pool.ts';
import { quantiles } from '../../analysis/statistics/estimate-mean.ts';
import { sum } from '../../analysis/statistics/observations.ts';
import { systemParts } from '../system-parts-from-options.ts';
import { KvFolder } from '../kv-folder.ts';
import { memoryEntry } from '../data-to-system-input.ts';
import { watchCalls } from '../observe/turn-recorder.ts';
import type { ServeContext } from '../suite.ts';
import { isSaturated, planLoad, planReplay, playLoad, type PlannedTurn, type ServedTurn } from './load-generator.ts';
import { readTrace } from '../../../data/traces/read-trace.ts';
import { visibleMemories } from '../../../data/visible-memories.ts';

/** Number of rates, from `LOWEST` × the capacity of `rag` to `HIGHEST` × the best arm's capacity. */
const RATES = 5;
const [LOWEST, HIGHEST] = [0.25, 1.1];
const RAG = 'rag';

type PlayedLoad = Awaited<ReturnType<typeof play>>;

/**
 * Table 12. Measures each arm's capacity with all sessions busy, then all arms at the same arrival rates, or at the arrivals of a
 * trace.
 */
export async function measureServing(context: ServeContext): Promise<ServingMeasurement> {
  const { config, datasets, engines, folder, onStep, signal } = context;
  const { model, contextTokens, threads, sessions } = config;
  const users = datasets.flatMap((drawn) => drawn.users);
  const { plan, replay, recurrence } = await makePlan(config, users);
  if (plan.length < 2) {
    throw new BenchError('bad-option', `suite serving needs 2 turns, and has ${plan.length}`, 'raise --limit');
  }
  const arms = context.arms.filter(({ traits }) => traits.retrieves === 'retrieved' && traits.control === null);
  const checkpointFolder = join(folder, 'serving', 'checkpoints');
  await using engine = await engines.open({ model, sessions, checkpointFolder, contextTokens, threads }, { signal });
  const opened: EngineSession[] = [];
  for (let index = 0; index < sessions; index++) opened.push(await engine.openSession(`serving-${index}`));
  await addMemories(context, users);
  let done = 0;
  const playAll = async (rate: number): Promise<PlayedLoad[]> => {
    const loads: PlayedLoad[] = [];
    for (const arm of arms) {
      loads.push(await play(context, { engine, sessions: opened }, arm, { plan, rate }));
      onStep(++done, arms.length * ((replay === undefined ? RATES : 1) + 1));
    }
    return loads;
  };
  const capacity = capacities(await playAll(Infinity));
  const loads: ServedLoad[] = [];
  for (const rate of replay === undefined ? rates(capacity) : [1]) {
    const played = await playAll(rate);
    const rag = played.find(({ arm }) => arm === RAG);
    for (const load of played) loads.push(servedLoad(load, sessions, load === rag ? undefined : rag));
  }
  const conversations = new Set(plan.map(({ conversation }) => conversation)).size;
  return { sessions, conversations, recurrence, capacity, loads, ...(replay === undefined ? {} : { replay }) };
}

/** The load: planned by the seed, or the beginning of a trace. */
async function makePlan(
  { trace: path, traceRun, traceArm, replay: by = 'timestamps', limit, ...config }: BenchConfig,
  users: readonly DatasetUser[],
) {
  const { recurrence, seed } = config;
  if (path === undefined) return { plan: planLoad(users, recurrence, seed), recurrence, replay: undefined };
  const trace = await readTrace(path, { run: traceRun, arm: traceArm });
  const { plan, users: traceUsers } = planReplay(trace, users, limit ?? Infinity);
  const conversations = [...Map.groupBy(plan, ({ conversation }) => conversation).values()];
  const questions = sum(conversations.map((turns) => new Set(turns.map(({ item }) => item)).size));
  const replay = { trace: trace.name, by, users: traceUsers, dataUsers: new Set(plan.map(({ user }) => user)).size };
  return { plan, replay, recurrence: (plan.length - questions) / Math.max(1, plan.length - conversations.length) };
}

/** Users of the load are separate users, who have all their memories from the start. */
const servedUserId = ({ userId }: DatasetUser): string => `serving/${userId}`;

async function addMemories({ keeper, runId }: ServeContext, users: readonly DatasetUser[]): Promise<void> {
  for (const user of users) {
    const last = user.items.at(-1);
    if (last === undefined) continue;
    const userId = servedUserId(user);
    const entries = visibleMemories(user, last).map(memoryEntry);
    const served = entries.map((entry) => ({ ...entry, memoryId: `serving/${entry.memoryId}` }));
    await keeper.addAll(`${runId}/${userId}`, userId, served);
  }
}

/** The turns that each arm answered a second. @throws the error of the first turn if no arm answered any */
function capacities(loads: readonly PlayedLoad[]): Record<string, number> {
  const failed = loads.flatMap(({ served }) => served).flatMap(({ outcome }) => ('error' in outcome ? [outcome] : []));
  if (failed.length === loads.reduce((sum, { served }) => sum + served.length, 0)) throw failed[0]!.error;
  return Object.fromEntries(loads.map(({ arm, served }) => [arm, answeredPerSecond(served)]));
}

function rates(capacity: Readonly<Record<string, number>>): number[] {
  const best = Math.max(...Object.values(capacity));
  // An arm that answered nothing has capacity 0.
  const lowest = LOWEST * (capacity[RAG] === 0 ? best : (capacity[RAG] ?? best));
  const ratio = ((HIGHEST * best) / lowest) ** (1 / (RATES - 1));
  return Array.from({ length: RATES }, (_, index) => lowest * ratio ** index);
}

async function play(
  { config, folder, keeper, signal }: ServeContext,
  { engine, sessions }: { readonly engine: Engine; readonly sessions: readonly EngineSession[] },
  arm: Arm,
  { plan, rate }: { readonly plan: readonly PlannedTurn[]; readonly rate: number },
) {
  const { name } = arm.traits;
  using stores = new KvFolder({ kvBytes: config.kvBytes }, join(folder, 'serving'));
  const store = await stores.opener(name)(engine);
  const retrievals = new RetrievalCounts();
  let movedBytes = 0;
  await using pool = await SystemPool.open(sessions.length, (index) => {
    const session = countingSession(sessions[index]!, (bytes) => (movedBytes += bytes));
    const parts = systemParts({ engine }, session, config, keeper);
    return Promise.resolve(arm.open({ ...parts, retrievals, openStore: () => Promise.resolve(store) }));
  });
  // Queries of an earlier load must be embedded and searched again.
  await keeper.reset();
  const before = await engine.meter();
  const clients = sessions.length;
  const afterAnswers = config.replay === 'think-time';
  const served = await playLoad(pool, plan, { rate, afterAnswers, clients, userId: servedUserId, signal });
  const meter = meterDifference(await engine.meter(), before);
  await pool.reset();
  return { arm: name, served, meter, movedBytes };
}

/** Wraps a session to count the bytes of KV that its calls move in or out. */
function countingSession(session: EngineSession, count: (bytes: number) => void): EngineSession {
  return watchCalls(session, (call) => call(), {
    checkpoint: async (...given) => {
      const checkpoint = await session.checkpoint(...given);
      count(checkpoint.bytes);
      return checkpoint;
    },
    restore: async (checkpoint, ...given) => {
      await session.restore(checkpoint, ...given);
      count(checkpoint.bytes);
    },
    exportCells: async (...given) => {
      const state = await session.exportCells(...given);
      count(kvBytes(state));
      return state;
    },
    importCells: async (state, ...given) => {
      const bytes = kvBytes(state);
      await session.importCells(state, ...given);
      count(bytes);
    },
  });
}

/** The results of one load. @param rag the same load played to `rag`; undefined for `rag` itself or without it */
function servedLoad({ arm, served, meter, movedBytes }: PlayedLoad, sessions: number, rag: PlayedLoad | undefined) {
  const answers = answered(served);
  const saturated = isSaturated(served, sessions);
  const times = answers.map(({ plannedMs, firstTokenMs }) => firstTokenMs - plannedMs);
  const { p50, p95 } = times.length === 0 ? { p50: undefined, p95: undefined } : quantiles(times);
  const caches = answers.map(({ response }) => response.trace.account.cache);
  const reported = sum(answers.map(({ response }) => response.tokens.evaluated));
  const mean = (total: number | null): number | null => (total === null ? null : total / served.length);
  const ragTexts = new Map(answered(rag?.served ?? []).map(({ turn, response }) => [turn, response.text]));
  const sameAsText = answers.filter(({ turn, response }) => ragTexts.get(turn) === response.text).length;
  return {
    arm,
    offered: perSecond(served.length - 1, served.at(-1)!.plannedMs),
    turns: served.length,
    errors: served.length - answers.length,
    answered: answeredPerSecond(served),
    ttftMs: p50 === undefined ? null : { p50, ...(p95 === undefined || saturated ? {} : { p95 }) },
    saturated,
    evaluatedTokens: mean(meter.evaluated),
    reusedTokens: mean(meter.reused),
    movedBytes: movedBytes / served.length,
    hits: caches.some((cache) => cache !== 'bypass') ? caches.filter((cache) => cache === 'hit').length : null,
    sameAsText: rag === undefined ? null : sameAsText,
    meter: meter.evaluated === null || Number.isNaN(reported) ? null : { engine: meter.evaluated, turns: reported },
  };
}

function answered(served: readonly ServedTurn[]) {
  return served.flatMap(({ turn, plannedMs, outcome }) =>
    'error' in outcome ? [] : [{ turn, plannedMs, ...outcome }],
  );
}

function answeredPerSecond(served: readonly ServedTurn[]): number {
  return perSecond(answered(served).length, Math.max(...served.map(({ outcome }) => outcome.doneMs)));
}

function perSecond(count: number, ms: number): number {
  return (count / ms) * 1000;
}
