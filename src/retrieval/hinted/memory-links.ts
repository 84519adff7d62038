import { BenchError } from '../../base/bench-error.ts';
import type { StoredMemory } from '../memory-namespace.ts';
import { textTerms } from '../text-terms.ts';
import { ChineseNameIndex } from './chinese-names.ts';

const LEAST_NAME_LENGTH = 3;
/** A name in more memories than this, or than the square root of their number if that is more, makes no links. */
const MOST_SHARING = 8;

/** Chinese writes no space in front of a foreign name. */
const capitalised = /(?<!(?!\p{Script=Han})[\p{L}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}]*/gu;

/**
 * Links between memories: those that contain the same name, and those that `metadata.links` lists. A name is a word that
 * begins with a capital somewhere within a text, or in Chinese one that a text introduces (`chineseNames`); the fewer memories
 * contain it, the stronger the link. Other texts without capitals have listed links only.
 */
export class MemoryLinks {
  readonly #terms = new Map<string, ReadonlySet<string>>();
  readonly #holders = new Map<string, Set<string>>();
  /** Terms that were written as a name; they stay known after their last memory is removed. */
  readonly #names = new Set<string>();
  readonly #chinese = new ChineseNameIndex();
  readonly #named = new Map<string, readonly string[]>();

  /** Reads `metadata.links`. @throws BenchError `bad-data` if it is not a list of ids */
  static namedLinks({ memoryId, metadata }: StoredMemory): readonly string[] {
    const links = metadata['links'] ?? [];
    if (Array.isArray(links) && links.every((id) => typeof id === 'string')) return links;
    const got = JSON.stringify(links);
    throw new BenchError('bad-data', `memory '${memoryId}': links expected a list of ids, got ${got}`, 'write ["m1"]');
  }

  add(memory: StoredMemory): void {
    const { memoryId, content } = memory;
    const terms = new Set(textTerms(content).filter((term) => term.length >= LEAST_NAME_LENGTH));
    this.#chinese.add(memoryId, content);
    for (const [word] of content.slice(1).matchAll(capitalised))
      for (const term of textTerms(word)) this.#names.add(term);
    this.#terms.set(memoryId, terms);
    this.#named.set(memoryId, MemoryLinks.namedLinks(memory));
    for (const term of terms) this.#holders.set(term, (this.#holders.get(term) ?? new Set()).add(memoryId));
  }

  remove(memoryId: string): void {
    for (const term of this.#terms.get(memoryId) ?? []) {
      const holders = this.#holders.get(term)!;
      holders.delete(memoryId);
      if (holders.size === 0) this.#holders.delete(term);
    }
    this.#chinese.remove(memoryId);
    this.#terms.delete(memoryId);
    this.#named.delete(memoryId);
  }

  /** Returns linked memories with the strength of the link: 1 for a listed link, or a name in just these two memories. */
  of(memoryId: string): Map<string, number> {
    const strengths = new Map<string, number>();
    const all = this.#terms.size;
    const most = Math.max(MOST_SHARING, Math.sqrt(all));
    const strengthen = (id: string, strength: number): void => {
      if (id !== memoryId) strengths.set(id, Math.max(strength, strengths.get(id) ?? 0));
    };
    const names = [...(this.#terms.get(memoryId) ?? [])].filter((term) => this.#names.has(term));
    for (const holders of [...names.map((name) => [...this.#holders.get(name)!]), ...this.#chinese.holders(memoryId)]) {
      if (holders.length < 2 || holders.length > most) continue;
      const strength = rarity(holders.length, all);
      for (const id of holders) strengthen(id, strength);
    }
    for (const id of this.#named.get(memoryId) ?? []) if (this.#terms.has(id)) strengthen(id, 1);
    return strengths;
  }
}

/** Inverse document frequency relative to a name in two memories: 1 for two, less for more. */
function rarity(holders: number, all: number): number {
  return all <= 2 ? 1 : Math.max(0, Math.log(all / holders) / Math.log(all / 2));
}
