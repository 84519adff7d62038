import { join } from 'node:path';
import type { DatasetUser } from '../../../data/dataset.ts';
import type { Trace } from '../../../kv/traffic/trace.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';
import type { ReuseMeasurement } from '../../../store/records/suite-measurements.ts';
import type { OpenEngine } from '../../../systems/answer-turn.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import type { ChatResponse, SystemStats } from '../../../systems/memory-system.ts';
import { type AccessCosts, firstTokenMs } from '../../../systems/simulator/access-costs.ts';
import { openSimulatedArm, type SimulatedArmName, withoutOrder } from '../../../systems/simulator/simulated-arms.ts';
import {
  type CacheStats,
  evaluatedTokens,
  type PromptShape,
  type SimulatedMachine,
} from '../../../systems/simulator/simulated-turn.ts';
import { itemQuestion, memoryEntry } from '../data-to-system-input.ts';
import { KvFolder } from '../kv-folder.ts';
import type { ServeContext } from '../suite.ts';
import { systemParts } from '../system-parts-from-options.ts';
import type { MapMachine } from '../estimate/simulate-reuse-map.ts';

type CacheUse = ReuseMeasurement['arms'][number]['real'];

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

/** The prompts that an arm had in the turns of a trace. */
export function playedPrompts({ responses }: PlayedArm, { turns }: Trace): PromptShape[] {
  return responses.map((response, index) => promptShape(response, turns[index]!.userId));
}

export interface PlayedArm {
  readonly responses: readonly ChatResponse[];
  readonly stored: Pick<CacheUse, 'entries' | 'evicted' | 'storedBytes'>;
}

export interface PlayedTraffic {
  readonly trace: Trace;
  readonly users: readonly DatasetUser[];
  readonly maxBytes: number;
}

/** Answers all turns of a trace, one token each. Number n in the trace's ids is the n-th user or memory of the data. */
export async function playArm(
  { config, folder, keeper, signal }: ServeContext,
  { engine, session }: OpenEngine,
  name: SimulatedArmName,
  { trace, users, maxBytes }: PlayedTraffic,
): Promise<PlayedArm> {
  const [arm] = armRegistry.named([name], { alpha: 1, gatingThreshold: 0 });
  using stores = new KvFolder({ kvBytes: maxBytes }, join(folder, 'reuse'));
  const parts = systemParts({ engine }, session, config, keeper);
  await using system = arm!.open({ ...parts, openStore: stores.opener(name) });
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
  return { responses, stored: storedKv(system.getStats()) };
}

const numberIn = (id: string): number => Number(id.slice(1));

type TierStats = CacheStats['memory'];

/** What a system keeps at the end: in one place, or in memory and on disk. */
function storedKv({ kvStore = {} }: SystemStats): PlayedArm['stored'] {
  const tiers = ('memory' in kvStore ? [kvStore['memory'], kvStore['disk']] : [kvStore]) as readonly TierStats[];
  return addTiers(tiers);
}

function addTiers(tiers: readonly Partial<TierStats>[]): PlayedArm['stored'] {
  const sum = (part: keyof TierStats): number => tiers.reduce((total, tier) => total + (tier[part] ?? 0), 0);
  return { entries: sum('entries'), evicted: sum('evicted'), storedBytes: sum('sizeBytes') };
}

/** The machine on which an arm was played: `rag-cached` keeps KV in memory, `dki` on disk, as checkpoints, and blocks on both. */
export function playedMachine(
  machine: MapMachine,
  arm: SimulatedArmName,
  maxBytes: number,
  responses: readonly ChatResponse[],
): SimulatedMachine {
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

/** What turns are simulated with. */
interface SimulatedTurns {
  readonly prompts: readonly PromptShape[];
  readonly machine: SimulatedMachine;
  readonly costs: AccessCosts;
}

/** Plays the same turns to the simulated arm. */
export async function compareTurns(
  arm: SimulatedArmName,
  { responses, stored }: PlayedArm,
  { prompts, machine, costs }: SimulatedTurns,
): Promise<ReuseMeasurement['arms'][number]> {
  const [real, expected] = [noUse(), noUse()];
  // The prompts are in the order of the arm already.
  const simulated = openSimulatedArm(withoutOrder(arm), machine);
  let differing = 0;
  for (const [index, response] of responses.entries()) {
    const access = await simulated.answer(prompts[index]!);
    const evaluated = evaluatedTokens(access);
    const { tokens, timings, trace } = response;
    const hit = trace.prefill === null ? trace.account.resident > 0 : trace.account.cache === 'hit';
    add(expected, evaluated, access.hit, firstTokenMs(access, costs));
    const { firstToken, retrieve, gate, assemble } = timings;
    add(real, tokens.evaluated, hit, firstToken - retrieve - gate - assemble);
    if (tokens.evaluated !== evaluated || hit !== access.hit) differing++;
  }
  const { memory, disk } = simulated.stats();
  return { arm, real: { ...real, ...stored }, simulated: { ...expected, ...addTiers([memory, disk]) }, differing };
}

function noUse() {
  return { evaluatedTokens: 0, hits: 0, ms: 0 };
}

function add(use: ReturnType<typeof noUse>, tokens: number, hit: boolean, ms: number): void {
  use.evaluatedTokens += tokens;
  use.hits += Number(hit);
  use.ms += ms;
}
