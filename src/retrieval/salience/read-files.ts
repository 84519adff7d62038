import { asksForTimeline, fastPathFiles, type MemoryScope, recentJournal } from './file-paths.ts';
import type { ScoredEntry } from './salience-ranking.ts';
import type { SalienceLibrary } from './salience-library.ts';

/** Paths of a query: read a file, read the journal, or search. */
export type SaliencePath = 'fast' | 'timeline' | 'hybrid';

/** Entries read without a search. */
export interface ReadFiles {
  readonly path: Exclude<SaliencePath, 'hybrid'>;
  readonly files: readonly string[];
  /** In file order, each once. */
  readonly entries: readonly ScoredEntry[];
}

/** Reads the file that a query points to, or the journal; undefined if the query needs a search. */
export function readFiles(
  library: SalienceLibrary,
  query: string,
  nowMs: number,
  scope: MemoryScope | undefined,
): ReadFiles | undefined {
  const isThere = (uri: string): boolean => library.file(uri, scope).length > 0;
  const read = (path: ReadFiles['path'], files: readonly string[]): ReadFiles => {
    // A memory that was filed on one day and changed on another is in both files.
    const entries = new Set(files.flatMap((uri) => library.file(uri, scope)));
    return { path, files, entries: [...entries].map((entry) => ({ entry, score: 1, tokenCount: entry.tokenCount })) };
  };
  const named = fastPathFiles(query, scope).find(isThere);
  if (named !== undefined) return read('fast', [named]);
  const days = asksForTimeline(query) ? recentJournal(nowMs).filter(isThere) : [];
  return days.length > 0 ? read('timeline', days) : undefined;
}
