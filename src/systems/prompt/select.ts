import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { DroppedPart, HistoryMessage } from '../../store/records/prompt-info.ts';
import type { PromptTokenizer } from './prompt-tokenizer.ts';
import type { PromptForm } from './prompt-form.ts';
import type { WriteLine } from './segments.ts';

/** The items that fit into a part of the budget, and those that do not. */
export interface Selection<T> {
  readonly kept: readonly T[];
  readonly tokens: number;
  readonly dropped: readonly DroppedPart[];
}

/** So many lines, and no more, are tokenised at once to find out whether they fit. */
const LINES_AT_ONCE = 64;

/**
 * Selects memories in rank order until the next would exceed `limitTokens`; it stops there and does not skip.
 * Each counts with the widest label that it can get; header and footer are part of the budget. Memories behind the first that
 * does not fit are not counted: of a thousand that are given, a window of fifty tokenises some sixty.
 */
export function selectMemories(
  ranked: readonly MemorySearchResult[],
  limitTokens: number,
  tokenizer: PromptTokenizer,
  lineOf: WriteLine,
  form: PromptForm,
): Selection<MemorySearchResult> {
  const frame = tokenizer.countAll(form.memoryFrame);
  let used = frame;
  let count = 0;
  let firstLeft: number | null = null;
  let asked = 0;
  for (const memory of ranked) {
    const line = lineOf(memory, ranked.length);
    if (!tokenizer.knows(line) && ++asked > LINES_AT_ONCE) break;
    const cost = tokenizer.count(line);
    if (used + cost > limitTokens) {
      firstLeft = cost;
      break;
    }
    used += cost;
    count++;
  }
  return {
    kept: ranked.slice(0, count),
    tokens: count === 0 ? 0 : used,
    dropped: ranked.slice(count).map((memory, index) => ({
      part: 'memory',
      id: memory.memoryId,
      tokens: index === 0 ? firstLeft : null,
      rule: 'memory-budget',
    })),
  };
}

/**
 * Selects messages from the newest backwards while they fit, with the segments around them; the order of time is kept.
 * @param mostMessages no more are considered; those before them are dropped by a rule of their own
 */
export function selectHistory(
  messages: readonly HistoryMessage[],
  limitTokens: number,
  mostMessages: number,
  tokenizer: PromptTokenizer,
  form: PromptForm,
): Selection<HistoryMessage> {
  const eldest = Math.max(0, messages.length - mostMessages);
  const costs = messages.map((message) => tokenizer.count(form.message(message)));
  let first = messages.length;
  let used = 0;
  let contents = 0;
  for (let candidate = messages.length - 1; candidate >= eldest; candidate--) {
    contents += costs[candidate]!;
    if (contents > limitTokens) break;
    if (!form.mayBegin(messages[candidate]!)) continue;
    const frame = form.historyFrameTokens(messages.slice(candidate), (segments) => tokenizer.countAll(segments));
    if (contents + frame > limitTokens) break;
    first = candidate;
    used = contents + frame;
  }
  return {
    kept: messages.slice(first),
    tokens: used,
    dropped: messages.slice(0, first).map((_, index) => ({
      part: 'history',
      id: String(index + 1),
      tokens: costs[index]!,
      rule: index < eldest ? 'history-turns' : 'history-budget',
    })),
  };
}
