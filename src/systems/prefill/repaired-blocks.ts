import { createHash } from 'node:crypto';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { TokenId } from '../../engine/token-id.ts';

/** Blocks that are joined whole, although their tokens were evicted: those of the best retrieved memories, or random ones. */
export interface Repair {
  readonly memories: number;
  readonly by: 'rank' | 'random';
}

/** Parses the setting `@repair`: `2`, or `2:random`. */
export function parseRepair(setting: string): Repair {
  return { memories: Number.parseInt(setting, 10), by: setting.endsWith(':random') ? 'random' : 'rank' };
}

/**
 * Indexes of the memories whose blocks come back whole in a turn.
 * @param ranks retrieval rank of each memory in the prompt; the smallest is the best
 * @param suffix the prompt after the memories, which seeds the random choice
 */
export function repairedBlocks(
  { memories, by }: Repair,
  ranks: readonly number[],
  suffix: readonly TokenId[],
): ReadonlySet<number> {
  const seed = createHash('sha256').update(Int32Array.from(suffix)).digest().readInt32LE(0);
  const order =
    by === 'random'
      ? new SeededRandom(seed).shuffled([...ranks.keys()])
      : [...ranks.keys()].sort((a, b) => ranks[a]! - ranks[b]!);
  return new Set(order.slice(0, memories));
}
