import { generateTraffic, trafficSchema } from '../../../data/generators/traffic.ts';
import type { ReuseMeasurement } from '../../../store/records/suite-measurements.ts';
import type { AccessCosts } from '../../../systems/simulator/access-costs.ts';
import { type PromptShape, promptShapes, type SimulatedMachine } from '../../../systems/simulator/simulated-turn.ts';
import { estimateTraffic, summariseTrace } from './estimate-traffic.ts';

type MapCell = ReuseMeasurement['map'][number];

/** Memories per user on the map: from all of them in every prompt to hardly any shown twice. */
const POOLS = [5, 20, 100, 500, 5000];
const RETRIEVED = 5;
/** Prompts show memories in the order of their creation, as by default. */
const TRAFFIC = { users: 20, turns: 2000, retrieved: RETRIEVED, order: 'stable' };
/** The share of the users' blocks that fits into memory, and the bytes of disk. */
const ROOMS = [
  ['memory', 1, 0],
  ['disk', 0.1, Number.MAX_SAFE_INTEGER],
] as const;
/** Memory per byte of blocks: a third of it is for rotated keys. */
const WITH_ROTATED = 1.5;

/** Lengths of a map that is drawn without a run. */
export const MAP_LENGTHS = [256, 1024, 4096, 16384, 32768];

/** The bytes of KV, and where it can be cut. The map itself sets the sizes of memory and disk. */
export type MapMachine = Omit<SimulatedMachine, 'memoryBytes' | 'diskBytes'>;

/** Simulated traffic of each length of the memories in a prompt, in tokens, and degree of reuse. */
export async function simulateMap(
  lengths: readonly number[],
  machine: MapMachine,
  costs: AccessCosts,
  signal?: AbortSignal,
): Promise<MapCell[]> {
  const map: MapCell[] = [];
  for (const memoryTokens of lengths) {
    for (const memories of POOLS) {
      const length = Math.max(1, Math.round(memoryTokens / RETRIEVED));
      const trace = generateTraffic(trafficSchema.parse({ ...TRAFFIC, memories, memoryTokens: length }));
      const blockBytes = machine.kvBytes(distinctTokens([...promptShapes(trace)]));
      const { repeatedShare: repeated } = summariseTrace(trace, 0);
      for (const [room, share, diskBytes] of ROOMS) {
        signal?.throwIfAborted();
        const memoryBytes = Math.ceil(WITH_ROTATED * share * blockBytes);
        const estimates = await estimateTraffic(trace, { ...machine, memoryBytes, diskBytes }, costs);
        map.push(
          ...estimates.map(({ arm, perTurn, meanMs, hitRate }) => {
            return {
              arm,
              room,
              memoryTokens,
              memories,
              repeated,
              evaluatedTokens: perTurn.evaluated,
              ms: meanMs,
              hitRate,
            };
          }),
        );
      }
    }
  }
  return map;
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
