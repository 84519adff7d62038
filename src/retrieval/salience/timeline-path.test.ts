import { describe, expect, test } from 'vitest';
import { asksForTimeline, recentJournal } from './salience-entry.ts';

describe('asksForTimeline', () => {
  test.each([
    '我最近说了什么',
    'Recently?',
    'What did I say Today?',
    '昨天',
    'yesterday',
    'the past 12 days',
    '这几天忙吗',
  ])('%s does', (query) => {
    expect(asksForTimeline(query)).toBe(true);
  });

  test.each(['the past few days', 'past  3 days', 'What is my dog called?', ''])('"%s" does not', (query) => {
    expect(asksForTimeline(query)).toBe(false);
  });

  test('a megabyte of almost-triggers takes no time to refuse', () => {
    expect(asksForTimeline('past 1'.repeat(200_000))).toBe(false);
    expect(asksForTimeline(`past ${'1'.repeat(1_000_000)}`)).toBe(false);
  });
});

describe('recentJournal', () => {
  test('the last seven days, today first, across the end of a month', () => {
    expect(recentJournal(Date.parse('2026-03-02T00:30:00Z'))).toEqual([
      'journal/2026-03-02.md',
      'journal/2026-03-01.md',
      'journal/2026-02-28.md',
      'journal/2026-02-27.md',
      'journal/2026-02-26.md',
      'journal/2026-02-25.md',
      'journal/2026-02-24.md',
    ]);
  });
});
