import { fastPathFiles, type MemoryScope } from './fast-path.ts';
import type { ScoredEntry } from './rank-by-salience.ts';
import type { SalienceLibrary } from './salience-library.ts';
import { asksForTimeline, recentJournal } from './timeline-path.ts';

/** Which of the three ways answered. */
export type SaliencePath = 'fast' | 'timeline' | 'hybrid';

export interface ReadFiles {
  readonly path: Exclude<SaliencePath, 'hybrid'>;
  readonly files: readonly string[];
  /** In file order, each once. */
  readonly entries: readonly ScoredEntry[];
}

/** What answers a query without a search: a file that it points to, or the journal. Undefined where neither is there. */
export function readFiles(
  library: SalienceLibrary,
  query: string,
  nowMs: number,
  scope: MemoryScope | undefined,
): ReadFiles | undefined {
  const isThere = (uri: string): boolean => library.file(uri, scope).length > 0;
  const read = (path: ReadFiles['path'], files: readonly string[]): ReadFiles => {
    // A memory that was filed under one day and mended on another stands in both.
    const entries = new Set(files.flatMap((uri) => library.file(uri, scope)));
    return { path, files, entries: [...entries].map((entry) => ({ entry, score: 1, tokenCount: entry.tokenCount })) };
  };
  const named = fastPathFiles(query, scope).find(isThere);
  if (named !== undefined) return read('fast', [named]);
  const days = asksForTimeline(query) ? recentJournal(nowMs).filter(isThere) : [];
  return days.length > 0 ? read('timeline', days) : undefined;
}
