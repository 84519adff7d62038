import type { SalienceEntry } from './salience-entry.ts';

/** One result with the field names of the source document: a memory, or a whole file. */
export interface SearchResult {
  readonly chunkId: string;
  readonly uri: string;
  readonly content: string;
  /** Salience, 0 to 1; 1 for entries of a file. */
  readonly score: number;
  readonly memoryType: string;
  readonly section: string;
  readonly reinforcement: number;
  readonly tokenCount: number;
}

/** Results of a search with the state of the token budget. */
export interface SearchResponse {
  readonly results: readonly SearchResult[];
  readonly totalTokens: number;
  readonly budgetRemaining: number;
}

/** Converts an entry to a result. */
export function toResult({ memory, ...entry }: SalienceEntry, score: number): SearchResult {
  const { uri, memoryType, section, reinforcement, tokenCount } = entry;
  const { memoryId: chunkId, content } = memory;
  return { chunkId, uri, content, score, memoryType, section, reinforcement, tokenCount };
}

/** Converts a whole file to one result, one entry a line. @param entries at least one */
export function fileResult(uri: string, entries: readonly SalienceEntry[]): Omit<SearchResult, 'tokenCount'> {
  const content = entries.map(({ memory }) => memory.content).join('\n');
  return {
    chunkId: uri,
    uri,
    content,
    score: 1,
    memoryType: entries[0]!.memoryType,
    section: '',
    reinforcement: Math.max(...entries.map(({ reinforcement }) => reinforcement)),
  };
}
