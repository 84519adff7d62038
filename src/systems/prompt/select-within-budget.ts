import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { DroppedPart, HistoryMessage } from '../../store/records/prompt-info.ts';
import type { PromptForm, Segment } from './prompt-form.ts';
import type { WriteLine } from './memory-lines.ts';
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

/** How many new lines each round of `settle` may tokenise. */
const MAX_NEW_LINES_PER_ROUND = 64;

/**
 * Selects memories in rank order until the next one does not fit. Every line is counted with a label as wide as the largest
 * number. Later memories are not tokenised, so a window for fifty of a thousand memories tokenises about sixty.
 */
export function selectMemories(
  ranked: readonly MemorySearchResult[],
  limitTokens: number,
  write: WriteLine,
  { tokenizer, frame }: Pick<PromptWriter, 'tokenizer'> & { readonly frame: readonly Segment[] },
): Selection<MemorySearchResult> {
  const frameTokens = tokenizer.countAll(frame);
  /** How many memories fit if each gets the label `widest`; at most `widest` of them. */
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

/** Selects the newest messages that fit. @param most limit on their number; older ones are dropped as `history-turns` */
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
