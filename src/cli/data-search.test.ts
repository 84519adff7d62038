import { expect, it } from 'vitest';
import { textWidth } from '../render/terminal-text.ts';
import { type SearchOutput, searchText } from './data-search.ts';

const page = { width: 80, colour: false };
const of = (memoryId: string, content: string, score: number) => ({ memoryId, content, score, metadata: {} });
const found: SearchOutput = {
  ...{ question: 'q', user: 'u01', dataset: 'recall-en', at: '2026-06-01T14:33:00.000Z', held: 12 },
  strategy: 'hinted',
  memories: [
    { ...of('m1', 'My dog is called Brenko.', 0.91234), path: 'user/entities.md#Pets' },
    of('m12', '我喜欢茶。'.repeat(12), -0.04),
  ],
  timingsMs: { embedding: 1.26, search: 0.04, ranking: 0 },
  ...{ tokensUsed: 31, tokenBudget: 1500 },
  flags: [{ flag: 'fallback', reason: 'the model named no strategy' }],
  details: {
    hints: { strategies: ['deep_search', 'long_term'], params: { expand_links: true } },
    ...{ coldChunks: 0, tiers: [], plan: null },
  },
};

it('shows what was searched, what the strategy did, and each memory with score, id, text and path', () => {
  expect(searchText(found, page)).toBe(
    [
      '2 of 12 memories of u01, recall-en, asked at 2026-06-01 14:33',
      'retriever                    hinted',
      'time                         embedding 1.3 ms, search 0.0 ms, ranking 0.0 ms',
      'tokens                       31 of 1500',
      'hints: strategies            deep_search, long_term',
      'hints: params: expand links  true',
      'cold chunks                  0',
      'fallback                     the model named no strategy',
      '',
      '1   0.912  m1   My dog is called Brenko.',
      '                user/entities.md#Pets',
      '2  −0.040  m12  我喜欢茶。我喜欢茶。我喜欢茶。我喜欢茶。我喜欢茶。我喜欢茶。我喜',
      '                欢茶。我喜欢茶。我喜欢茶。我喜欢茶。我喜欢茶。我喜欢茶。',
      '',
    ].join('\n'),
  );
});

it('keeps within the page, whatever the ids, and lets no text command the terminal', () => {
  const memoryId = `\u001b[2J${'very-long-'.repeat(12)}`;
  const content = `a\u202eb\r\n${'word '.repeat(80)}`;
  const hostile = { ...of(memoryId, content, 1), path: '\u0007'.repeat(90) };
  const text = searchText(
    {
      ...found,
      user: '\u001b]0;x\u0007',
      memories: [hostile],
      flags: [{ flag: 'failed', reason: '\u001b[2J '.repeat(40) }],
      details: { '\u001b[2J': 'x'.repeat(200), path: '\n' },
      summary: `## 历史上下文\n\n${'喜欢茶'.repeat(60)}\u001b[2J`,
    },
    page,
  );
  const lines = text.split('\n');
  expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(80);
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(lines.slice(lines.indexOf('summary'))).toEqual(expect.arrayContaining(['  ## 历史上下文', '']));
});

it('says if nothing was retrieved', () => {
  expect(searchText({ ...found, memories: [] }, page)).toMatch(/^0 of 12 memories .*\n\nnothing was retrieved\n$/s);
});
