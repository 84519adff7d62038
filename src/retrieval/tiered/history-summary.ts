/** One retrieved record: of working memory, or a chunk of long-term memory. */
export interface ContextItem {
  readonly memoryId: string;
  readonly content: string;
  /** 1 for working memory, 1 − cosine distance for long-term memory. */
  readonly score: number;
  readonly tier: 'hot' | 'cold';
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Formats retrieved records as Markdown, in order and unchanged; empty if there are none.
 */
export function formatHistorySummary(items: readonly ContextItem[]): string {
  if (items.length === 0) return '';
  const records = items.map(
    ({ content, score }, index) => `### 记录 ${index + 1} (相关度: ${score.toFixed(2)})\n${content}\n\n`,
  );
  return `## 历史上下文\n\n${records.join('')}`;
}
