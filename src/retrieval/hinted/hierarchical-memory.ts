import { product } from '../../base/vectors.ts';
import { MemoryNamespace, type ScoredMemory, type StoredMemory } from '../memory-namespace.ts';
import type { VectorBackend } from '../vectors/vector-index.ts';
import { MemoryLinks } from './memory-links.ts';
import type { MemoryTier, SearchPlan } from './search-plan.ts';

const SHORT_TERM_MEMORIES = 10;
const MID_TERM_MEMORIES = 50;
/** Bonus on the score of a memory of the preferred tier. */
const PREFERENCE = 0.1;
/** Largest share of a neighbour's score that a linked memory gets on top of its own. */
const LINK_SHARE = 0.8;

const personaTypes: readonly unknown[] = ['preference', 'persona'];

/** A memory and the time when it was written. */
interface TimedMemory {
  readonly memory: StoredMemory;
  readonly writtenMs: number;
}

/** Result of a search. */
export interface HierarchicalSearch {
  /** Best first; of equal scores, older first. */
  readonly ranked: readonly ScoredMemory[];
  /** Number of them that were found through a link. */
  readonly linked: number;
}

/**
 * The memories of one user in tiers; a search reads the tiers that its plan names.
 */
export class HierarchicalMemory {
  readonly #all: MemoryNamespace;
  readonly #persona: MemoryNamespace;
  readonly #links = new MemoryLinks();
  readonly #timed = new Map<string, TimedMemory>();
  /** Oldest first; undefined after a change. */
  #byAge: readonly TimedMemory[] | undefined;

  constructor(backend: VectorBackend, dimension: number) {
    this.#all = new MemoryNamespace(backend, dimension);
    this.#persona = new MemoryNamespace(backend, dimension);
  }

  get size(): number {
    return this.#all.size;
  }

  /** Adds memories; one with a known id replaces the old one. */
  add(memories: readonly TimedMemory[]): void {
    // The last of several with one id, as if they were added in sequence.
    const distinct = [...new Map(memories.map((timed) => [timed.memory.memoryId, timed])).values()];
    for (const { memory } of distinct) this.remove(memory.memoryId);
    this.#all.add(distinct.map(({ memory }) => memory));
    this.#persona.add(distinct.map(({ memory }) => memory).filter(isPersona));
    for (const timed of distinct) {
      this.#timed.set(timed.memory.memoryId, timed);
      this.#links.add(timed.memory);
    }
    this.#byAge = undefined;
  }

  /** Removes a memory; false if there is none. */
  remove(memoryId: string): boolean {
    if (!this.#timed.delete(memoryId)) return false;
    this.#all.remove(memoryId);
    this.#persona.remove(memoryId);
    this.#links.remove(memoryId);
    this.#byAge = undefined;
    return true;
  }

  /**
   * Finds the `k` (at least 1) memories that are nearest to any of the unit vectors, in the tiers of the plan and within its
   * link depth. The score is the best cosine; a linked memory gets a share of its neighbour's score.
   */
  search(vectors: readonly Float32Array[], plan: SearchPlan, k: number): HierarchicalSearch {
    const { preferredTier } = plan;
    const prefers = preferredTier === undefined ? () => false : this.#belongsTo(preferredTier);
    const scores = new Map<string, number>();
    for (const vector of vectors) {
      const nearest = this.#nearest(vector, plan.tiers, k);
      const preferred = preferredTier === undefined ? [] : this.#nearest(vector, [preferredTier], k);
      for (const { memory, score } of [...nearest, ...preferred]) {
        const weighed = score + (prefers(memory.memoryId) ? PREFERENCE : 0);
        scores.set(memory.memoryId, Math.max(weighed, scores.get(memory.memoryId) ?? -Infinity));
      }
    }
    if (!plan.includePersona) for (const id of scores.keys()) if (this.#isPersona(id)) scores.delete(id);
    const found = new Set(
      this.#ranked(scores)
        .slice(0, k)
        .map(({ memory }) => memory.memoryId),
    );
    this.#followLinks(scores, vectors, plan, k);
    const ranked = this.#ranked(scores).slice(0, k);
    return { ranked, linked: ranked.filter(({ memory }) => !found.has(memory.memoryId)).length };
  }

  #nearest(vector: Float32Array, tiers: readonly MemoryTier[], k: number): ScoredMemory[] {
    // Short, mid and long together are all memories.
    if (['short', 'mid', 'long'].every((tier) => tiers.includes(tier as MemoryTier)))
      return this.#all.search(vector, k);
    return tiers.flatMap((tier) => {
      if (tier === 'persona') return this.#persona.size === 0 ? [] : this.#persona.search(vector, k);
      if (tier === 'long') {
        const belongs = this.#belongsTo('long');
        const wider = k + SHORT_TERM_MEMORIES + MID_TERM_MEMORIES;
        return this.#all.search(vector, wider).filter(({ memory }) => belongs(memory.memoryId));
      }
      return this.#newer(tier).map(({ memory }) => ({ memory, score: product(vector, memory.embedding) }));
    });
  }

  /**
   * Spreads the scores of hits over links: a memory's score is its own similarity plus a share of its best neighbour's score,
   * link by link, divided by the largest possible sum. Memories that are similar to the question and linked with similar ones
   * come first.
   */
  #followLinks(
    scores: Map<string, number>,
    vectors: readonly Float32Array[],
    { linkDepth, includePersona }: SearchPlan,
    k: number,
  ): void {
    if (linkDepth === 0) return;
    const own = new Map(scores);
    let frontier = this.#ranked(scores).slice(0, k);
    for (let link = 0; link < linkDepth && frontier.length > 0; link++) {
      const reached = new Map<string, number>();
      for (const { memory, score } of frontier) {
        for (const [id, strength] of this.#links.of(memory.memoryId)) {
          if (!includePersona && this.#isPersona(id)) continue;
          const { embedding } = this.#timed.get(id)!.memory;
          const similarity = own.get(id) ?? Math.max(...vectors.map((vector) => product(vector, embedding)));
          own.set(id, similarity);
          const spread = similarity + LINK_SHARE * strength * score;
          if (spread <= (scores.get(id) ?? -Infinity)) continue;
          scores.set(id, spread);
          reached.set(id, spread);
        }
      }
      frontier = this.#ranked(reached).slice(0, k);
    }
    // The score of a chain of similarities of 1.
    const most = Array.from({ length: linkDepth + 1 }, (_, link) => LINK_SHARE ** link).reduce(
      (sum, part) => sum + part,
    );
    for (const [id, score] of scores) scores.set(id, score / most);
  }

  #ranked(scores: ReadonlyMap<string, number>): ScoredMemory[] {
    return [...scores]
      .map(([id, score]) => ({ memory: this.#timed.get(id)!.memory, score, writtenMs: this.#timed.get(id)!.writtenMs }))
      .sort((a, b) => b.score - a.score || a.writtenMs - b.writtenMs)
      .map(({ memory, score }) => ({ memory, score }));
  }

  #newer(tier: 'short' | 'mid'): readonly TimedMemory[] {
    this.#byAge ??= [...this.#timed.values()].sort((a, b) => a.writtenMs - b.writtenMs);
    const shortFrom = Math.max(0, this.size - SHORT_TERM_MEMORIES);
    const midFrom = Math.max(0, shortFrom - MID_TERM_MEMORIES);
    return tier === 'short' ? this.#byAge.slice(shortFrom) : this.#byAge.slice(midFrom, shortFrom);
  }

  /** Returns a test for membership in a tier. */
  #belongsTo(tier: MemoryTier): (memoryId: string) => boolean {
    if (tier === 'persona') return (id) => this.#isPersona(id);
    const idsOf = (newer: 'short' | 'mid') => this.#newer(newer).map(({ memory }) => memory.memoryId);
    const ids = new Set(tier === 'long' ? [...idsOf('short'), ...idsOf('mid')] : idsOf(tier));
    return (id) => ids.has(id) === (tier !== 'long');
  }

  #isPersona(memoryId: string): boolean {
    return this.#persona.get(memoryId) !== undefined;
  }
}

function isPersona({ metadata }: StoredMemory): boolean {
  return metadata['preference'] === true || personaTypes.includes(metadata['memory_type']);
}
