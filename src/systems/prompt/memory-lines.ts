import { promptTemplates } from '../../config/prompt-templates.ts';
import { recordTitle } from '../../retrieval/format-history-summary.ts';
import { type MemorySearchResult } from '../../retrieval/retriever.ts';
import { type Segment, fill } from './prompt-form.ts';

/** The label of a memory line: `[1] …`, or `- …`, which does not depend on its place. */
export type LabelStyle = 'index' | 'bullet';

/** Memories as labelled lines, or as the records of a summary in Markdown. */
export type MemoriesAs = 'lines' | 'summary';

/** Writes a memory as it stands in a prompt. @param place among the memories there, from 1 */
export type WriteLine = (memory: Pick<MemorySearchResult, 'memoryId' | 'content' | 'score'>, place: number) => Segment;

/** `[position] content\n` or `- content\n`; `position` counts from 1. */
export function memorySegment(memoryId: string, content: string, position: number, labels: LabelStyle): Segment {
  return { role: 'memory', text: fill(promptTemplates.segments.memory[labels], content, String(position)), memoryId };
}

/** How memories are written by the rules of a prompt: a line each, or an empty line, the record's title, and the content. */
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
