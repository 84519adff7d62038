import { BenchError } from '../../base/bench-error.ts';
import type { MemorySearchResult, RetrievalSummary } from '../../retrieval/retriever.ts';
import type { DroppedPart, HistoryMessage } from '../../store/records/prompt-info.ts';
import type { MemoriesAs, PromptForm, WriteLine } from './prompt-form.ts';
import type { PromptTokenizer } from './prompt-tokenizer.ts';

export interface Selection<T> {
  readonly kept: readonly T[];
  readonly tokens: number;
  readonly dropped: readonly DroppedPart[];
}

export interface PromptWriter {
  readonly tokenizer: PromptTokenizer;
  readonly form: PromptForm;
}

/** The memories that a prompt may show, or the records of a summary. @throws BenchError `bad-option` without one */
export function shownMemories(
  { memories, summary }: { readonly memories: readonly MemorySearchResult[]; readonly summary?: RetrievalSummary },
  { memoriesAs = 'lines' }: { readonly memoriesAs?: MemoriesAs },
): readonly MemorySearchResult[] {
  if (memoriesAs === 'lines') return memories;
  if (summary !== undefined) return summary.records;
  // An empty query: nothing was retrieved, and there is nothing to sum up.
  if (memories.length === 0) return memories;
  const message = 'an arm that shows the summary of its retriever was given memories without one';
  throw new BenchError('bad-option', message, 'add --retriever tiered, or choose another arm, such as rag');
}

/** At most this many new lines are tokenised per round of `settle`. */
const MAX_NEW_LINES_PER_ROUND = 64;

/**
 * Selects memories in rank order until the next does not fit, each with the widest label of as many; later ones are
 * not counted: a window that holds fifty of a thousand tokenises about sixty.
 */
export function selectMemories(
  ranked: readonly MemorySearchResult[],
  limitTokens: number,
  write: WriteLine,
  { tokenizer, form }: PromptWriter,
): Selection<MemorySearchResult> {
  const frameTokens = tokenizer.countAll(form.memoryFrame);
  /** The memories that fit, each with that label, and no more than it can number. */
  const fit = (widest: number) => {
    let [count, used, unknown] = [0, frameTokens, 0];
    for (const memory of ranked.slice(0, widest)) {
      const line = write(memory, widest);
      if (!tokenizer.knows(line) && ++unknown > MAX_NEW_LINES_PER_ROUND) break;
      const cost = tokenizer.count(line);
      if (used + cost > limitTokens) return { count, used, firstDroppedTokens: cost };
      used += cost;
      count++;
    }
    return { count, used, firstDroppedTokens: null };
  };
  let best = fit(Math.min(9, ranked.length));
  for (let widest = 9; best.count === widest && widest < ranked.length;) {
    widest = Math.min(10 * widest + 9, ranked.length);
    const wider = fit(widest);
    if (wider.count <= best.count) break;
    best = wider;
  }
  const { count, used, firstDroppedTokens } = best;
  return {
    kept: ranked.slice(0, count),
    tokens: count === 0 ? 0 : used,
    dropped: ranked.slice(count).map(({ memoryId }, index) => ({
      part: 'memory',
      id: memoryId,
      tokens: index === 0 ? firstDroppedTokens : null,
      rule: 'memory-budget',
    })),
  };
}

/** Selects messages from the newest backwards while they fit. @param most older ones are dropped by `history-turns` */
export function selectHistory(
  messages: readonly HistoryMessage[],
  limitTokens: number,
  most: number,
  { tokenizer, form }: PromptWriter,
): Selection<HistoryMessage> {
  const oldestAllowed = Math.max(0, messages.length - most);
  const costs = messages.map((message) => tokenizer.count(form.message(message)));
  let first = messages.length;
  let used = 0;
  let contents = 0;
  for (let candidate = messages.length - 1; candidate >= oldestAllowed; candidate--) {
    contents += costs[candidate]!;
    if (contents > limitTokens) break;
    if (!form.canStartHistory(messages[candidate]!)) continue;
    const frame = form.historyFrameTokens(messages.slice(candidate), (segments) => tokenizer.countAll(segments));
    if (contents + frame > limitTokens) break;
    first = candidate;
    used = contents + frame;
  }
  return {
    kept: messages.slice(first),
    tokens: used,
    dropped: costs.slice(0, first).map((tokens, index) => ({
      part: 'history',
      id: String(index + 1),
      tokens,
      rule: index < oldestAllowed ? 'history-turns' : 'history-budget',
    })),
  };
}

/** The order of the selected memories in the sequence: as ranked, the best last, or by creation, then id. */
export type Placement = 'rank' | 'rank-last' | 'chronological';

/** The memories that form the prefix, which can be injected: all, or the user's preferences. */
export type PrefixMemories = 'all' | 'preferences';

/** True for a memory that was added as a preference. */
export function isPreference(memory: { readonly metadata?: MemorySearchResult['metadata'] | undefined }): boolean {
  return memory.metadata?.['preference'] === true;
}

export function chronological(memories: readonly MemorySearchResult[]): MemorySearchResult[] {
  const createdAt = ({ metadata }: MemorySearchResult): string => {
    const value = metadata['createdAt'];
    return typeof value === 'string' ? value : '';
  };
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return memories.toSorted((a, b) => compare(createdAt(a), createdAt(b)) || compare(a.memoryId, b.memoryId));
}

/** Orders the selected memories, given in rank order, as they will appear in the sequence: preferences first if only they form the prefix. */
export function placed(memories: readonly MemorySearchResult[], placement: Placement, prefix: PrefixMemories = 'all') {
  const ranked = placement === 'rank' ? memories : memories.toReversed();
  const ordered = placement === 'chronological' ? chronological(memories) : ranked;
  if (prefix === 'all') return ordered;
  return [...ordered.filter(isPreference), ...ordered.filter((memory) => !isPreference(memory))];
}
