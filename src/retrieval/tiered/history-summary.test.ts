import { expect, test } from 'vitest';
import { formatHistorySummary, type ContextItem } from './history-summary.ts';

const item = (content: string, score: number): ContextItem => ({
  memoryId: 'm',
  content,
  score,
  tier: 'hot',
  metadata: {},
});

test("has the document's headings, scores to two decimals, and contents as they are", () => {
  expect(
    formatHistorySummary([item('我住在利兹。', 1), item('# I *like* <b>tea</b>', 0.8765), item('x', -0.004)]),
  ).toBe(
    '## 历史上下文\n\n' +
      '### 记录 1 (相关度: 1.00)\n我住在利兹。\n\n' +
      '### 记录 2 (相关度: 0.88)\n# I *like* <b>tea</b>\n\n' +
      '### 记录 3 (相关度: -0.00)\nx\n\n',
  );
});

test('is empty where nothing was found', () => expect(formatHistorySummary([])).toBe(''));
