import { expect, test } from 'vitest';
import { formatHistorySummary } from './format-history-summary.ts';

test("has the document's headings, scores to two decimals, and contents as they are", () => {
  const records = [
    { content: '我住在利兹。', score: 1 },
    { content: '# I *like* <b>tea</b>', score: 0.8765 },
    { content: 'x', score: -0.004 },
  ];
  expect(formatHistorySummary(records)).toBe(
    '## 历史上下文\n\n' +
      '### 记录 1 (相关度: 1.00)\n我住在利兹。\n\n' +
      '### 记录 2 (相关度: 0.88)\n# I *like* <b>tea</b>\n\n' +
      '### 记录 3 (相关度: -0.00)\nx\n\n',
  );
});

test('is empty if nothing was found', () => expect(formatHistorySummary([])).toBe(''));
