import { promptTemplates } from '../../config/prompt-templates.ts';
import { recordTitle } from '../../retrieval/format-history-summary.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { Segment } from './prompt-form.ts';
import { fill } from './prompt-text.ts';

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
