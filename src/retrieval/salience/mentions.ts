import type { SalienceEntry } from './salience-entry.ts';

/** Memories of one user by what they say: those that say the same in one scope are mentions of one entry. */
export class Mentions {
  readonly #statementOf = new Map<string, string>();
  /** By statement, in the order in which they were added. */
  readonly #mentions = new Map<string, SalienceEntry[]>();

  /** Number of memories, mentions of one entry counted each. */
  get size(): number {
    return this.#statementOf.size;
  }

  /** Adds a memory with a new id; returns its statement. */
  add(memory: SalienceEntry): string {
    const statement = statementOf(memory);
    this.#statementOf.set(memory.memory.memoryId, statement);
    const others = this.#mentions.get(statement);
    if (others === undefined) this.#mentions.set(statement, [memory]);
    else others.push(memory);
    return statement;
  }

  /** Removes a memory; returns its statement, or undefined if there is none. */
  remove(memoryId: string): string | undefined {
    const statement = this.#statementOf.get(memoryId);
    if (statement === undefined) return undefined;
    this.#statementOf.delete(memoryId);
    const left = this.#mentions.get(statement)!.filter(({ memory }) => memory.memoryId !== memoryId);
    if (left.length === 0) this.#mentions.delete(statement);
    else this.#mentions.set(statement, left);
    return statement;
  }

  /** The entry of a statement; undefined if nobody says it any more. */
  entry(statement: string): SalienceEntry | undefined {
    const mentions = this.#mentions.get(statement);
    return mentions === undefined ? undefined : merged(mentions);
  }
}

/** Scope and words, in lower case and without the mark at the end: words that differ in a sign stay different. */
function statementOf({ scope, memory }: SalienceEntry): string {
  const words = memory.content.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ').trim();
  return `${scope} ${words.replace(/(?<=.)[.!。…]+$/u, '')}`;
}

/** The first mention, as often said as all together, and as new as the last; the file is that of the first that names one. */
function merged(mentions: readonly SalienceEntry[]): SalienceEntry {
  const inOrder = [...mentions].sort((a, b) => a.updatedAtMs - b.updatedAtMs);
  const [first, last] = [inOrder[0]!, inOrder.at(-1)!];
  const filed = inOrder.find(({ uri, journal }) => uri !== journal) ?? last;
  const { memory, tokenCount } = first;
  const { journal, updatedAtMs } = last;
  const reinforcement = mentions.reduce((sum, mention) => sum + mention.reinforcement, 0);
  return { ...filed, memory, tokenCount, journal, updatedAtMs, reinforcement };
}
