import type { SalienceEntry } from './salience-entry.ts';

/** One hit under the source document's names: a memory, or a whole file. @see seed 002 §6 */
export interface SearchResult {
  readonly chunkId: string;
  readonly uri: string;
  readonly content: string;
  /** Salience, 0 to 1; 1 for what was read from a file. */
  readonly score: number;
  readonly memoryType: string;
  readonly section: string;
  readonly reinforcement: number;
  readonly tokenCount: number;
}

/** @see seed 002 §5 */
export interface SearchResponse {
  readonly results: readonly SearchResult[];
  readonly totalTokens: number;
  readonly budgetRemaining: number;
}

export function toResult({ memory, ...entry }: SalienceEntry, score: number): SearchResult {
  const { uri, memoryType, section, reinforcement, tokenCount } = entry;
  const { memoryId: chunkId, content } = memory;
  return { chunkId, uri, content, score, memoryType, section, reinforcement, tokenCount };
}

/** A whole file as one hit: its entries one a line. @param entries at least one */
export function fileResult(
  uri: string,
  entries: readonly SalienceEntry[],
  countTokens: (text: string) => number,
): SearchResult {
  const content = entries.map(({ memory }) => memory.content).join('\n');
  return {
    chunkId: uri,
    uri,
    content,
    score: 1,
    memoryType: entries[0]!.memoryType,
    section: '',
    reinforcement: Math.max(...entries.map(({ reinforcement }) => reinforcement)),
    tokenCount: countTokens(content),
  };
}
