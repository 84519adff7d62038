import { RetrievalCounts } from '../retrieval-counts.ts';
import { PrefixCacheArm } from './simulated-prefix-cache.ts';
import { BlocksArm, ExactPrefixArm } from './simulated-stored-kv.ts';
import { asText, emptyTier, noDisk, type SimulatedArm, type SimulatedMachine } from './simulated-turn.ts';

/** The arms of the bench that can be simulated. */
export const simulatedArmNames = [
  'rag',
  'rag-cached',
  'rag-cached@order=stable',
  'dki',
  'dki@order=stable',
  'dki-blocks',
  'dki-blocks@context=previous',
] as const;
/** A prefix cache that also writes KV to disk, as LMCache and Mooncake do. Only estimated: the bench has no such arm. */
export const prefixCacheWithDisk = 'rag-cached + disk';
export type SimulatedArmName = (typeof simulatedArmNames)[number] | typeof prefixCacheWithDisk;

export function openSimulatedArm(name: SimulatedArmName, machine: SimulatedMachine): SimulatedArm {
  switch (name) {
    case 'rag':
      return textArm;
    case 'rag-cached':
      return new PrefixCacheArm(machine, { hasDisk: false });
    case prefixCacheWithDisk:
      return new PrefixCacheArm(machine, { hasDisk: true });
    case 'dki':
      return new ExactPrefixArm(machine);
    case 'dki-blocks':
      return new BlocksArm(machine, false);
    case 'dki-blocks@context=previous':
      return new BlocksArm(machine, true);
    default:
      return inStableOrder(openSimulatedArm(withoutOrder(name), machine));
  }
}

/** The arm with the same cache. */
export function withoutOrder(name: SimulatedArmName): SimulatedArmName {
  return name.replace('@order=stable', '') as SimulatedArmName;
}

const textArm: SimulatedArm = {
  answer: async (prompt) => asText(prompt),
  stats: () => ({ memory: emptyTier, disk: noDisk }),
};

/** Shows memories by how often they were retrieved before. */
function inStableOrder(arm: SimulatedArm): SimulatedArm {
  const counts = new RetrievalCounts();
  return {
    answer: (prompt) => {
      const byId = Map.groupBy(prompt.segments, ({ id }) => id);
      const retrieved = prompt.segments.map(({ id: memoryId }) => ({ memoryId }));
      const segments = counts.count(prompt.userId, retrieved).flatMap((id) => byId.get(id)!);
      return arm.answer({ ...prompt, segments });
    },
    stats: () => arm.stats(),
  };
}
