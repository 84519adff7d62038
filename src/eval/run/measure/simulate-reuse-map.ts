import { generateTraffic, trafficSchema } from '../../../data/generators/traffic.ts';
import type { EngineCapabilities } from '../../../engine/engine-capabilities.ts';
import { cellBytes, type KvLayout } from '../../../engine/sequence-state.ts';
import { blockFileBytes } from '../../../kv/block-file.ts';
import type { ReuseMeasurement } from '../../../store/records/suite-measurements.ts';
import type { AccessCosts } from '../../../systems/simulator/access-costs.ts';
import { type PromptShape, promptShapes, type SimulatedMachine } from '../../../systems/simulator/simulated-turn.ts';
import { estimateTraffic } from '../estimate/estimate-traffic.ts';
import { summariseTrace } from '../estimate/summarise-trace.ts';
import type { MeasureContext } from '../suite.ts';

type MapCell = ReuseMeasurement['map'][number];

/** Of the map: memories of a user, from all in each prompt to hardly any twice. */
const POOLS = [5, 20, 100, 500, 5000];
const RETRIEVED = 5;
/** Memories stand in one order, as they do by default: that of their creation. */
const TRAFFIC = { users: 20, turns: 2000, retrieved: RETRIEVED, order: 'stable' };
/** Share of the users' blocks that fit into memory where a disk holds the rest. */
const SMALL_MEMORY = 0.1;
/** Memory for a block and, a third of it all, for rotated keys. */
const WITH_ROTATED = 1.5;

/** What a simulation takes from an engine. */
export interface SimulatedEngine {
  readonly capabilities: EngineCapabilities;
  readonly layout: KvLayout;
}

/** Simulated traffic of each length and degree of reuse. */
export async function simulateMap(
  { config, signal }: MeasureContext,
  engine: SimulatedEngine,
  costs: AccessCosts,
): Promise<MapCell[]> {
  const map: MapCell[] = [];
  for (const memoryTokens of config.lengths) {
    for (const memories of POOLS) {
      const length = Math.max(1, Math.round(memoryTokens / RETRIEVED));
      const trace = generateTraffic(trafficSchema.parse({ ...TRAFFIC, memories, memoryTokens: length }));
      const prompts = [...promptShapes(trace)];
      const about = { memoryTokens, memories, repeated: summariseTrace(trace, cellBytes(engine.layout)).repeatedShare };
      for (const room of ['memory', 'disk'] as const) {
        signal.throwIfAborted();
        const estimates = await estimateTraffic(trace, machineWith(room, prompts, engine), costs);
        map.push(
          ...estimates.map(({ arm, perTurn, meanMs, hitRate }) => {
            return { arm, room, ...about, evaluatedTokens: perTurn.evaluated, ms: meanMs, hitRate };
          }),
        );
      }
    }
  }
  return map;
}

function machineWith(
  room: MapCell['room'],
  prompts: readonly PromptShape[],
  { capabilities, layout }: SimulatedEngine,
): SimulatedMachine {
  const blockBytes = distinctTokens(prompts) * cellBytes(layout);
  return {
    limits: capabilities,
    memoryBytes: Math.ceil(WITH_ROTATED * blockBytes * (room === 'memory' ? 1 : SMALL_MEMORY)),
    diskBytes: room === 'memory' ? 0 : Number.MAX_SAFE_INTEGER,
    kvBytes: (tokens) => tokens * cellBytes(layout),
    fileBytes: (tokens) => blockFileBytes(layout, tokens),
  };
}

/** Tokens of all different memories and headers of users. */
export function distinctTokens(prompts: readonly PromptShape[]): number {
  const known = new Map<string, number>();
  for (const { userId, header, segments } of prompts) {
    known.set(userId, header.tokens);
    for (const { id, tokens } of segments) known.set(`${userId} ${id}`, tokens);
  }
  return [...known.values()].reduce((sum, tokens) => sum + tokens, 0);
}
