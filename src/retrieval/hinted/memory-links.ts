import { z } from 'zod';
import { readMetadata, type StoredMemory } from '../memory-vector-index.ts';
import { textTerms } from '../text-terms.ts';
import { findChineseNames } from './find-chinese-names.ts';

const MIN_NAME_LENGTH = 3;
/** A name makes no links if it is in more memories than this and than the square root of the number of memories. */
const MAX_SHARING = 8;

/** A word with a capital at its start, or behind a Chinese character: Chinese writes no space before a foreign name. */
const capitalised = /(?<!(?!\p{Script=Han})[\p{L}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}]*/gu;

/** Reads `metadata.links`. @throws BenchError `bad-data` if it is not a list of ids */
export function listedLinks(memory: StoredMemory): readonly string[] {
  const expected = 'a list of ids such as ["m1"]';
  return readMetadata(memory, 'links', z.array(z.string(expected), expected).nullish()) ?? [];
}

/**
 * Links between memories: those that contain the same name, and those that `metadata.links` lists. A name is a word that
 * is capitalised in the middle of some text, or in Chinese a result of `findChineseNames`; the fewer memories
 * contain it, the stronger the link. Texts in other languages without capitals have listed links only.
 */
export class MemoryLinks {
  /** By id: terms that may be names, the text if it is Chinese, and listed links. */
  readonly #memories = new Map<string, { terms: ReadonlySet<string>; chinese: string; listed: readonly string[] }>();
  /** Ids of memories by term. */
  readonly #holders = new Map<string, Set<string>>();
  /** Terms that were written as a name; they stay known after their last memory is removed. */
  readonly #names = new Set<string>();
  readonly #chineseNames = new Set<string>();

  add(memory: StoredMemory): void {
    const { memoryId, content } = memory;
    const terms = new Set(textTerms(content).filter((term) => term.length >= MIN_NAME_LENGTH));
    const text = content.normalize('NFKC');
    const chinese = /\p{Script=Han}/u.test(text) ? text : '';
    this.#memories.set(memoryId, { terms, chinese, listed: listedLinks(memory) });
    for (const { 0: word, index } of content.matchAll(capitalised)) {
      // The first word of a text has a capital in any case.
      if (index === 0) continue;
      for (const term of textTerms(word)) this.#names.add(term);
    }
    for (const term of terms) this.#holders.set(term, (this.#holders.get(term) ?? new Set()).add(memoryId));
    for (const name of findChineseNames(chinese)) this.#chineseNames.add(name);
  }

  remove(memoryId: string): void {
    for (const term of this.#memories.get(memoryId)?.terms ?? []) this.#holders.get(term)!.delete(memoryId);
    this.#memories.delete(memoryId);
  }

  /** Strengths of links by id of the linked memory: 1 for a listed link, and for a name in only these two memories. */
  strengths(memoryId: string): Map<string, number> {
    const strengths = new Map<string, number>();
    const strengthen = (id: string, strength: number): void => {
      if (id !== memoryId) strengths.set(id, Math.max(strength, strengths.get(id) ?? 0));
    };
    const { terms, chinese, listed } = this.#memories.get(memoryId)!;
    const shared: (readonly string[])[] = [
      ...[...terms].filter((term) => this.#names.has(term)).map((term) => [...this.#holders.get(term)!]),
      ...[...this.#chineseNames].filter((name) => chinese.includes(name)).map((name) => this.#withChinese(name)),
    ];
    const all = this.#memories.size;
    const most = Math.max(MAX_SHARING, Math.sqrt(all));
    for (const holders of shared) {
      if (holders.length < 2 || holders.length > most) continue;
      for (const id of holders) strengthen(id, rarity(holders.length, all));
    }
    for (const id of listed) if (this.#memories.has(id)) strengthen(id, 1);
    return strengths;
  }

  /** Ids of the memories that contain a Chinese name. */
  #withChinese(name: string): readonly string[] {
    return [...this.#memories].filter(([, { chinese }]) => chinese.includes(name)).map(([id]) => id);
  }
}

/** Inverse document frequency of a name in `holders` of `all` memories, scaled to 1 for two holders. */
function rarity(holders: number, all: number): number {
  return all <= 2 ? 1 : Math.max(0, Math.log(all / holders) / Math.log(all / 2));
}
