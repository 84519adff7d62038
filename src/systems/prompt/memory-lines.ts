import { promptTemplates } from '../../config/prompt-templates.ts';
import { recordTitle } from '../../retrieval/format-history-summary.ts';
import { type MemorySearchResult } from '../../retrieval/retriever.ts';
import { type Segment, fill } from './prompt-form.ts';

/** The label of a memory line: `[1] …`, or `- …`, which is the same at every place in the prompt. */
export type LabelStyle = 'index' | 'bullet';

/** Memories as labelled lines, or as the records of a summary in Markdown. */
export type MemoriesAs = 'lines' | 'summary';

/** Writes a memory as a prompt segment. @param place number of the memory in the prompt, from 1 */
export type WriteLine = (memory: Pick<MemorySearchResult, 'memoryId' | 'content' | 'score'>, place: number) => Segment;

/** `[position] content\n` or `- content\n`; `position` counts from 1. */
export function memorySegment(memoryId: string, content: string, position: number, labels: LabelStyle): Segment {
  return { role: 'memory', text: fill(promptTemplates.segments.memory[labels], content, String(position)), memoryId };
}

/** Writes memories by the prompt rules: one line each, or (for a summary) an empty line, the record's title, the content. */
export function lineWriter(rules: { readonly labels: LabelStyle; readonly memoriesAs?: MemoriesAs }): WriteLine {
  if (rules.memoriesAs !== 'summary') {
    return ({ memoryId, content }, place) => memorySegment(memoryId, content, place, rules.labels);
  }
  return ({ memoryId, content, score }, place) => ({
    role: 'memory',
    text: fill(`\n${recordTitle(place, score)}\n{content}\n`, content),
    memoryId,
  });
}

/** Order of the memories in the prompt: best first, best last, by creation time and then id, or most often retrieved first. */
export type Placement = 'rank' | 'rank-last' | 'chronological' | 'stable';

/** The memories that can be injected as KV prefix: all, or only the user's preferences. */
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

interface OrderRules {
  readonly placement: Placement;
  /** Default `all`. */
  readonly prefix?: PrefixMemories;
  /** Ids in the order of placement `stable`; by rank without it. */
  readonly stableOrder?: readonly string[];
}

/** Orders memories for the prompt, with preferences first if only they form the prefix. @param memories in rank order */
export function orderMemories(
  memories: readonly MemorySearchResult[],
  { placement, prefix = 'all', stableOrder = [] }: OrderRules,
): readonly MemorySearchResult[] {
  const place = ({ memoryId }: MemorySearchResult): number => stableOrder.indexOf(memoryId);
  const orders: Readonly<Record<Placement, () => readonly MemorySearchResult[]>> = {
    rank: () => memories,
    'rank-last': () => memories.toReversed(),
    chronological: () => chronological(memories),
    stable: () => memories.toSorted((a, b) => place(a) - place(b)),
  };
  const ordered = orders[placement]();
  if (prefix === 'all') return ordered;
  return [...ordered.filter(isPreference), ...ordered.filter((memory) => !isPreference(memory))];
}
