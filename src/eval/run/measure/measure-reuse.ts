import { join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import { generateTraffic, trafficSchema } from '../../../data/generators/traffic.ts';
import { requireCells } from '../../../engine/engine-capabilities.ts';
import { cellBytes } from '../../../engine/sequence-state.ts';
import { blockFileBytes } from '../../../kv/block-file.ts';
import type { Trace } from '../../../kv/traffic/trace.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';
import type { LengthMeasurement, ReuseMeasurement } from '../../../store/records/suite-measurements.ts';
import type { OpenEngine } from '../../../systems/answer-turn.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import type { ChatResponse } from '../../../systems/memory-system.ts';
import { type AccessCosts, costsOfLengths, firstTokenMs } from '../../../systems/simulator/access-costs.ts';
import {
  openSimulatedArm,
  type SimulatedArmName,
  simulatedArmNames,
  withoutOrder,
} from '../../../systems/simulator/simulated-arms.ts';
import {
  type CacheStats,
  evaluatedTokens,
  type PromptShape,
  type SimulatedMachine,
} from '../../../systems/simulator/simulated-turn.ts';
import { wayName } from '../../analysis/summary/length-break-even.ts';
import { itemQuestion, memoryEntry } from '../data-to-system-input.ts';
import { distinctTokens, type MapMachine, simulateMap } from '../estimate/simulate-reuse-map.ts';
import { KvFolder } from '../kv-folder.ts';
import { summariseTrace } from '../estimate/estimate-traffic.ts';
import type { ServeContext } from '../suite.ts';
import { systemParts } from '../system-parts-from-options.ts';
import { sumByName } from '../workers/add-counts.ts';
import { lengthFrame, measureLength } from './measure-length.ts';

const TURNS = 1000;
/** Share of the memories' KV that the arms may keep, so that some must go. */
const ROOM = 1 / 4;
/** Lengths at which costs are measured. */
const COST_LENGTHS = [64, 128, 256, 1024];

type ArmUse = ReuseMeasurement['arms'][number];

type TurnUse = Pick<ArmUse['real'], 'evaluatedTokens' | 'hits' | 'ms'>;

type PlayedArm = Awaited<ReturnType<typeof playArm>>;

/**
 * Plays generated traffic to each arm, with the memories and questions of the data, and simulates the same turns; then simulates
 * traffic of many lengths and degrees of reuse, at the costs that suite `length` measures here. Users share one store.
 * @throws BenchError `bad-data` if no user has more memories than are retrieved
 */
export async function measureReuse(context: ServeContext): Promise<ReuseMeasurement> {
  const { config, engines, folder, signal } = context;
  const before = await measureLengths(context);
  const users = trafficUsers(context);
  const memories = Math.min(...users.map((user) => user.memories.length));
  const traffic = { turns: config.limit ?? TURNS, users: users.length, memories, retrieved: config.topK };
  const trace = generateTraffic(trafficSchema.parse({ ...traffic, seed: config.seed }));
  const { model, contextTokens, threads } = config;
  const checkpointFolder = join(folder, 'reuse', 'checkpoints');
  await using engine = await engines.open({ model, checkpointFolder, contextTokens, threads }, { signal });
  await using session = await engine.openSession('reuse');
  const { layout } = requireCells(engine);
  const kept = {
    limits: engine.capabilities,
    kvBytes: (tokens: number) => tokens * cellBytes(layout),
    fileBytes: (tokens: number) => blockFileBytes(layout, tokens),
  };
  const play = (arm: SimulatedArmName, maxBytes: number): Promise<PlayedArm> =>
    playArm(context, { engine, session }, arm, { trace, users, maxBytes });
  // `rag` stores nothing; its prompts tell how many tokens the memories have, and so the bytes of a quarter of them.
  const text = await play('rag', config.kvBytes);
  const maxBytes = config.given.includes('kvBytes')
    ? config.kvBytes
    : Math.ceil(ROOM * distinctTokens(playedPrompts(text, trace)) * cellBytes(layout));
  const played = [text];
  for (const arm of simulatedArmNames) {
    signal.throwIfAborted();
    if (arm !== text.arm) played.push(await play(arm, maxBytes));
    context.onStep(played.length, simulatedArmNames.length + 1);
  }
  // A machine is faster at one time and slower at another: costs are those before and after the turns.
  const measured = joinRepeats([...before, ...(await measureLengths(context))]);
  const costs = costsOfLengths(measured, lengthFrame);
  const costsUpTo = Math.max(...measured.map(({ tokens }) => tokens));
  const arms: ArmUse[] = [];
  for (const turns of played) {
    arms.push(await compareTurns(turns, playedPrompts(turns, trace), playedMachine(kept, turns, maxBytes), costs));
  }
  const map = await simulateMap(config.lengths, kept, costs, signal);
  context.onStep(simulatedArmNames.length + 1, simulatedArmNames.length + 1);
  const { repeatedShare } = summariseTrace(trace, cellBytes(layout));
  return { traffic: { ...traffic, repeated: repeatedShare }, maxBytes, arms, costs, costsUpTo, map };
}

function measureLengths(context: ServeContext): Promise<readonly LengthMeasurement[]> {
  const config = { ...context.config, lengths: COST_LENGTHS };
  const withoutStore = { ...context, config, measured: null, save: async () => undefined };
  return measureLength(withoutStore, { types: ['f16'] });
}

/** Measurements of the same ways, one row for each way and length. */
function joinRepeats(rows: readonly LengthMeasurement[]): LengthMeasurement[] {
  const same = Map.groupBy(rows, (row) => `${wayName(row)} ${row.tokens}`);
  return [...same.values()].map((of) => ({
    ...of[0]!,
    exports: of.flatMap(({ exports = [] }) => exports),
    repeats: of.flatMap(({ repeats }) => repeats),
  }));
}

/** Users with more memories than a prompt shows. */
function trafficUsers({ datasets, config: { topK } }: ServeContext): DatasetUser[] {
  const users = datasets
    .flatMap((drawn) => drawn.users)
    .filter(({ items, memories }) => items.length > 0 && memories.length > topK);
  if (users.length > 0) return users;
  const message = `suite reuse needs users with more than ${topK} memories, and the data have none`;
  throw new BenchError('bad-data', message, 'lower --top-k, or choose data with more memories per user');
}

/** Answers all turns of a trace, one token each. Number n in the trace's ids is the n-th user or memory of the data. */
async function playArm(
  { config, folder, keeper, signal }: ServeContext,
  { engine, session }: OpenEngine,
  arm: SimulatedArmName,
  {
    trace,
    users,
    maxBytes,
  }: { readonly trace: Trace; readonly users: readonly DatasetUser[]; readonly maxBytes: number },
) {
  const [opened] = armRegistry.named([arm], { alpha: 1, gatingThreshold: 0 });
  using stores = new KvFolder({ kvBytes: maxBytes }, join(folder, 'reuse'));
  const parts = systemParts({ engine }, session, config, keeper);
  await using system = opened!.open({ ...parts, openStore: stores.opener(arm) });
  const responses: ChatResponse[] = [];
  for (const { userId, segments, conversationId: sessionId } of trace.turns) {
    signal.throwIfAborted();
    const user = users[numberIn(userId)]!;
    const item = user.items[responses.length % user.items.length]!;
    const memories = segments.map(({ id }) => ({ ...memoryEntry(user.memories[numberIn(id)]!), score: 1 }));
    const retrieved = { memories, elapsedMs: 0, record: null };
    const turn = { sessionId, userId: user.userId, history: [], maxNewTokens: 1, retrieved };
    responses.push(await system.chat({ ...itemQuestion(item, user), ...turn }));
  }
  // KV is kept in one place, or in memory and on disk.
  const { kvStore = {} } = system.getStats();
  const tiers = 'memory' in kvStore ? [kvStore['memory'], kvStore['disk']] : [kvStore];
  return { arm, responses, stored: storedKv(tiers as readonly CacheStats['memory'][]) };
}

const numberIn = (id: string): number => Number(id.slice(1));

function storedKv(tiers: readonly Partial<CacheStats['memory']>[]) {
  const sum = (part: keyof CacheStats['memory']): number => tiers.reduce((total, tier) => total + (tier[part] ?? 0), 0);
  return { entries: sum('entries'), evicted: sum('evicted'), storedBytes: sum('sizeBytes') };
}

/** The prompts that an arm had in the turns of a trace. */
function playedPrompts({ responses }: PlayedArm, { turns }: Trace): PromptShape[] {
  return responses.map((response, index) => promptShape(response, turns[index]!.userId));
}

/** The tokens of a played prompt. A memory's id is its text, so that equal texts of one user are one block. */
function promptShape({ promptInfo: { segments } }: ChatResponse, userId: string): PromptShape {
  const span = (parts: readonly PromptSegment[]) => {
    const tokenIds = parts.flatMap((part) => part.tokenIds);
    return { tokens: tokenIds.length, tokenIds };
  };
  const start = segments.findIndex(({ role }) => role === 'memory');
  const end = segments.findLastIndex(({ role }) => role === 'memory') + 1;
  return {
    userId,
    header: span(segments.slice(0, start)),
    segments: segments.slice(start, end).map((line) => ({ id: line.tokenIds.join(' '), ...span([line]) })),
    query: span(segments.slice(end)),
  };
}

/** The machine on which an arm was played: `rag-cached` keeps KV in memory, `dki` on disk, as checkpoints, and blocks on both. */
function playedMachine(machine: MapMachine, { arm, responses }: PlayedArm, maxBytes: number): SimulatedMachine {
  const checkpoints = new Map<number, number>();
  for (const { trace } of responses) {
    if (trace.prefill?.strategy === 'prefix') checkpoints.set(trace.prefill.tokens, trace.prefill.sizeBytes);
  }
  return {
    ...machine,
    memoryBytes: arm.startsWith('dki') && !arm.startsWith('dki-') ? 0 : maxBytes,
    diskBytes: maxBytes,
    fileBytes: (tokens) => checkpoints.get(tokens) ?? machine.fileBytes(tokens),
  };
}

/** Plays the same turns to the simulated arm. */
async function compareTurns(
  { arm, responses, stored }: PlayedArm,
  prompts: readonly PromptShape[],
  machine: SimulatedMachine,
  costs: AccessCosts,
): Promise<ArmUse> {
  // The prompts are in the order of the arm already.
  const simulated = openSimulatedArm(withoutOrder(arm), machine);
  const turns: { readonly real: TurnUse; readonly expected: TurnUse }[] = [];
  for (const [index, { tokens, timings, trace }] of responses.entries()) {
    const access = await simulated.answer(prompts[index]!);
    const hit = trace.prefill === null ? trace.account.resident > 0 : trace.account.cache === 'hit';
    const { firstToken, retrieve, gate, assemble } = timings;
    const ms = firstToken - retrieve - gate - assemble;
    turns.push({
      real: { evaluatedTokens: tokens.evaluated, hits: Number(hit), ms },
      expected: { evaluatedTokens: evaluatedTokens(access), hits: Number(access.hit), ms: firstTokenMs(access, costs) },
    });
  }
  const differs = (a: TurnUse, b: TurnUse) => a.evaluatedTokens !== b.evaluatedTokens || a.hits !== b.hits;
  const { memory, disk } = simulated.stats();
  return {
    arm,
    real: { ...sumByName(turns.map(({ real }) => real)), ...stored },
    simulated: { ...sumByName(turns.map(({ expected }) => expected)), ...storedKv([memory, disk]) },
    differing: turns.filter(({ real, expected }) => differs(real, expected)).length,
  };
}
