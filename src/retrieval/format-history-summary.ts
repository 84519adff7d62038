import type { MemorySearchResult } from './retriever.ts';

/** Heading of a summary: "history context", as the design document words it. */
export const summaryHeading = '## 历史上下文';

/** Title of one record of a summary. @param place from 1 @param score relevance, shown to two decimals */
export function recordTitle(place: number, score: number): string {
  return `### 记录 ${place} (相关度: ${score.toFixed(2)})`;
}

/** Formats retrieved records as Markdown, in order and unchanged; empty if there are none. */
export function formatHistorySummary(records: readonly Pick<MemorySearchResult, 'content' | 'score'>[]): string {
  if (records.length === 0) return '';
  const written = records.map(({ content, score }, index) => `${recordTitle(index + 1, score)}\n${content}\n\n`);
  return `${summaryHeading}\n\n${written.join('')}`;
}
