import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { MemorySearchResult } from '../../../retrieval/retriever.ts';
import { isPreference } from '../../../systems/prompt/memory-lines.ts';

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
    const key = (id: string): readonly number[] => [
      injects === 'preferences' && preferred.has(id) ? 0 : 1,
      -before.filter((list) => list.includes(id)).length,
      all.indexOf(id),
    ];
    const compare = (a: readonly number[], b: readonly number[]): number =>
      a.map((part, at) => part - b[at]!).find((difference) => difference !== 0) ?? 0;
    return [...new Set(ids)].sort((a, b) => compare(key(a), key(b)));
  }

  clear(): void {
    this.#retrieved.clear();
  }
}
