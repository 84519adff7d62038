import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';
import { isPreference } from '../../../systems/prompt/memory-lines.ts';
import type { EngineCapabilities } from '../../../engine/engine-capabilities.ts';
import type { TokenId } from '../../../engine/token-id.ts';

/** Recomputes the order that `@order=stable` gives memories, from all earlier retrievals, without `RetrievalCounts`. */
export class ExpectedMemoryOrder {
  /** By arm: ids of each retrieval, best first. */
  readonly #retrieved = new Map<string, (readonly string[])[]>();

  /** The ids in the order in which the arm's prompt must show them; undefined if it orders them by another rule. */
  next(
    { name, settings, injects }: Pick<ArmTraits, 'name' | 'settings' | 'injects'>,
    memories: readonly MemorySearchResult[],
  ): readonly string[] | undefined {
    if (settings.order !== 'stable') return undefined;
    const before = this.#retrieved.get(name) ?? [];
    const ids = memories.map(({ memoryId }) => memoryId);
    this.#retrieved.set(name, [...before, ids]);
    const all = [...before, ids].flat();
    const preferred = new Set(memories.filter(isPreference).map(({ memoryId }) => memoryId));
    const isPreferred = (id: string): number => Number(injects === 'preferences' && preferred.has(id));
    const times = (id: string): number => before.filter((list) => list.includes(id)).length;
    return [...new Set(ids)].sort(
      (a, b) => isPreferred(b) - isPreferred(a) || times(b) - times(a) || all.indexOf(a) - all.indexOf(b),
    );
  }

  clear(): void {
    this.#retrieved.clear();
  }
}

type Limits = Pick<EngineCapabilities, 'exactCuts' | 'leastTokens' | 'truncatesUpTo' | 'slidingWindowTokens'>;

export type ExpectedPrefixReuse = ReturnType<typeof expectedPrefixReuse>;

/** Computes what a prefix cache must reuse. Avoids `commonLength` and `lastExactCut`, so that it finds faults in them. */
export function expectedPrefixReuse(limits: Limits) {
  const { leastTokens, exactCuts, truncatesUpTo, slidingWindowTokens: window } = limits;
  const seenOf = new Map<string, (readonly TokenId[])[]>();
  const isExact = (tokens: number): boolean =>
    tokens % (exactCuts ?? 1) === 0 && (window === null || tokens <= window || (tokens - window) % 64 === 0);
  const atCut = (tokens: number): number => {
    let cut = tokens;
    while (!isExact(cut)) cut--;
    return cut;
  };
  const isCut = (tokens: number): boolean => truncatesUpTo === null || tokens <= truncatesUpTo;
  return {
    /**
     * Tokens of a prompt that the cache must reuse from the arm's earlier prompts. Adds the prompt to these.
     * @param prefixTokens tokens up to the last memory: what is stored of a prompt that cannot be truncated, and reused as a whole
     */
    reusedTokens({ name }: Pick<ArmTraits, 'name'>, prompt: readonly TokenId[], prefixTokens: number): number {
      const seen = seenOf.get(name) ?? [];
      const equal = seen.map((earlier) => {
        const other = earlier.findIndex((id, at) => prompt[at] !== id);
        if (other === -1) return earlier.length;
        return isCut(earlier.length) ? other : 0;
      });
      const last = prompt.length - leastTokens;
      const stored = isCut(prompt.length) ? prompt : prompt.slice(0, atCut(Math.min(prefixTokens, last)));
      seenOf.set(name, [...seen, stored]);
      const whole = atCut(Math.min(Math.max(0, ...equal), last));
      return whole < leastTokens ? 0 : whole;
    },
    clear: (): void => seenOf.clear(),
  };
}
