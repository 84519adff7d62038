import { BenchError } from '../../base/bench-error.ts';
import type { RetrievalHints } from './pre-retrieval/pre-retrieval-types.ts';
import { searchParams } from './pre-retrieval/pre-retrieval-config.ts';
import { innerProduct } from '../../base/inner-product.ts';
import { MemoryVectorIndex, type ScoredMemory, type StoredMemory } from '../memory-vector-index.ts';
import type { VectorBackend } from '../vectors/vector-backends.ts';
import { MemoryLinks } from './memory-links.ts';

/** Tiers by age: the newest ten memories, the fifty before them, the rest; and the persona, across all ages. */
export const memoryTiers = ['short', 'mid', 'long', 'persona'] as const;
type MemoryTier = (typeof memoryTiers)[number];

/** Plan of a search. `linkDepth`: links to follow from a hit, 0 for none; `preferredTier`: its memories get a bonus. */
type SearchPlan = ReturnType<typeof planSearch>;

const tierNames = { stm: 'short', mtm: 'mid', ltm: 'long', persona: 'persona' } as const;

/**
 * Converts hints to a plan. The first of these labels counts: `deep_search` reads all tiers, and follows links unless
 * `expand_links` is false; `temporal_search` reads the short-term tier; `persona_search` the persona. Without one of them, the
 * plan reads the short-term tier if `time_range` is `recent`, else all tiers.
 * @throws BenchError `bad-option` for a parameter with an invalid value
 */
export function planSearch({ strategies, params }: Pick<RetrievalHints, 'strategies' | 'params'>) {
  const { data, error } = searchParams.safeParse(params);
  if (error !== undefined) {
    const { path, message } = error.issues[0]!;
    const place = `retrieval_hints.params.${path.join('.')}`;
    throw new BenchError('bad-option', `${place}: ${message}`, 'correct the keyword rule');
  }
  const label = ['deep_search', 'temporal_search', 'persona_search'].find((known) => strategies.includes(known));
  const isRecent = label === 'temporal_search' || (label === undefined && data.time_range === 'recent');
  const tiers: readonly MemoryTier[] = label === 'persona_search' ? ['persona'] : isRecent ? ['short'] : memoryTiers;
  return {
    tiers,
    linkDepth: (data.expand_links ?? label === 'deep_search') ? (data.search_depth ?? 1) : 0,
    includePersona: data.include_persona ?? true,
    preferredTier: data.tier_preference && tierNames[data.tier_preference],
  };
}

const SHORT_TERM_MEMORIES = 10;
const MID_TERM_MEMORIES = 50;
const NEWER_MEMORIES = SHORT_TERM_MEMORIES + MID_TERM_MEMORIES;
/** Bonus on the score of a memory of the preferred tier. */
const PREFERENCE = 0.1;
/** Largest share of a neighbour's score that a linked memory gets on top of its own. */
const LINK_SHARE = 0.8;

export interface TimedMemory extends StoredMemory {
  readonly writtenMs: number;
}

type Scores = Map<TimedMemory, number>;

/** The memories of one user in tiers by age; a search reads the tiers of its plan. */
export class HierarchicalMemory {
  readonly #all: MemoryVectorIndex<TimedMemory>;
  readonly #persona: MemoryVectorIndex<TimedMemory>;
  readonly #links = new MemoryLinks();
  /** The tier of each memory that is not long-term, oldest memory first; undefined after a change. */
  #newer: ReadonlyMap<TimedMemory, 'short' | 'mid'> | undefined;

  constructor(backend: VectorBackend, dimension: number) {
    this.#all = new MemoryVectorIndex(backend, dimension);
    this.#persona = new MemoryVectorIndex(backend, dimension);
  }

  get size(): number {
    return this.#all.size;
  }

  /** Adds memories; one with a known id replaces the old one. */
  add(memories: readonly TimedMemory[]): void {
    // Of memories with the same id the last one counts, as if they were added one by one.
    const distinct = [...new Map(memories.map((memory) => [memory.memoryId, memory])).values()];
    for (const { memoryId } of distinct) this.remove(memoryId);
    this.#all.add(distinct);
    this.#persona.add(distinct.filter(isPersona));
    for (const memory of distinct) this.#links.add(memory);
    this.#newer = undefined;
  }

  remove(memoryId: string): boolean {
    if (!this.#all.remove(memoryId)) return false;
    this.#persona.remove(memoryId);
    this.#links.remove(memoryId);
    this.#newer = undefined;
    return true;
  }

  /**
   * Finds the `k` (at least 1) memories nearest to any of the unit vectors, in the tiers of the plan and over links up to its
   * depth. The score is the best cosine, plus a share of the score of a linked memory.
   * @returns `ranked` best first, of equal scores older first; `linked` counts those that only a link made a result
   */
  search(vectors: readonly Float32Array[], plan: SearchPlan, k: number) {
    const { preferredTier } = plan;
    // Memories of the persona that the plan excludes are dropped after the search.
    const count = plan.includePersona ? k : k + this.#persona.size;
    const scores: Scores = new Map();
    for (const vector of vectors) {
      for (const { memory, score } of this.#nearestOf(vector, plan, count)) {
        const bonus = preferredTier !== undefined && this.#isIn(preferredTier, memory) ? PREFERENCE : 0;
        scores.set(memory, Math.max(score + bonus, scores.get(memory) ?? -Infinity));
      }
    }
    if (!plan.includePersona) for (const memory of scores.keys()) if (isPersona(memory)) scores.delete(memory);
    const hits = new Set(best(scores, k).map(({ memory }) => memory));
    if (plan.linkDepth > 0) this.#followLinks(scores, vectors, plan, k);
    const ranked = best(scores, k);
    return { ranked, linked: ranked.filter(({ memory }) => !hits.has(memory)).length };
  }

  /** The nearest memories of the plan's tiers, and of its preferred tier. */
  #nearestOf(vector: Float32Array, { tiers, preferredTier }: SearchPlan, k: number): ScoredMemory<TimedMemory>[] {
    const isWhole = tiers.length === memoryTiers.length;
    const nearest = isWhole ? this.#all.search(vector, k) : tiers.flatMap((tier) => this.#nearest(vector, tier, k));
    return preferredTier === undefined ? nearest : [...nearest, ...this.#nearest(vector, preferredTier, k)];
  }

  #nearest(vector: Float32Array, tier: MemoryTier, k: number): ScoredMemory<TimedMemory>[] {
    if (tier === 'persona') return this.#persona.search(vector, k);
    if (tier === 'long') {
      return this.#all.search(vector, k + NEWER_MEMORIES).filter(({ memory }) => this.#isIn('long', memory));
    }
    const newer = [...this.#newerTiers().keys()].filter((memory) => this.#isIn(tier, memory));
    return newer.map((memory) => ({ memory, score: innerProduct(vector, memory.embedding) }));
  }

  /**
   * Spreads scores over links: a memory's score becomes its similarity plus a share of its best neighbour's score, link by
   * link, divided by the largest possible sum. Memories similar to the question and linked to similar ones come first.
   */
  #followLinks(scores: Scores, vectors: readonly Float32Array[], plan: SearchPlan, k: number): void {
    const similarities: Scores = new Map(scores);
    let frontier = best(scores, k);
    /** The sum if all similarities and link strengths are 1. */
    let largestSum = 1;
    for (let link = 1; link <= plan.linkDepth; link++) {
      largestSum += LINK_SHARE ** link;
      const reached: Scores = new Map();
      for (const { memory: from, score } of frontier) {
        for (const [id, strength] of this.#links.strengths(from.memoryId)) {
          const memory = this.#all.get(id)!;
          if (!plan.includePersona && isPersona(memory)) continue;
          const similarity =
            similarities.get(memory) ?? Math.max(...vectors.map((vector) => innerProduct(vector, memory.embedding)));
          similarities.set(memory, similarity);
          const spread = similarity + LINK_SHARE * strength * score;
          if (spread <= (scores.get(memory) ?? -Infinity)) continue;
          scores.set(memory, spread);
          reached.set(memory, spread);
        }
      }
      frontier = best(reached, k);
    }
    for (const [memory, score] of scores) scores.set(memory, score / largestSum);
  }

  #newerTiers(): ReadonlyMap<TimedMemory, 'short' | 'mid'> {
    if (this.#newer !== undefined) return this.#newer;
    const newer = this.#all
      .list()
      .sort((a, b) => a.writtenMs - b.writtenMs)
      .slice(-NEWER_MEMORIES);
    const firstShort = newer.length - SHORT_TERM_MEMORIES;
    return (this.#newer = new Map(newer.map((memory, index) => [memory, index < firstShort ? 'mid' : 'short'])));
  }

  #isIn(tier: MemoryTier, memory: TimedMemory): boolean {
    return tier === 'persona' ? isPersona(memory) : (this.#newerTiers().get(memory) ?? 'long') === tier;
  }
}

/** Returns the `k` best memories; of equal scores, older first. */
function best(scores: Scores, k: number): ScoredMemory<TimedMemory>[] {
  return [...scores]
    .map(([memory, score]) => ({ memory, score }))
    .sort((a, b) => b.score - a.score || a.memory.writtenMs - b.memory.writtenMs)
    .slice(0, k);
}

function isPersona({ metadata }: StoredMemory): boolean {
  return metadata['preference'] === true || ['preference', 'persona'].includes(metadata['memory_type'] as string);
}
