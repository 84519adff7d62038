import { expect, test } from 'vitest';
import type { PromptSegment } from '../../store/records/prompt-info.ts';
import { questionRange } from './build-prompt.ts';

const segments = (...parts: readonly (readonly [PromptSegment['role'], number])[]) =>
  parts.map(([role, tokens]) => ({ role, tokenIds: Array.from({ length: tokens }, () => 7) }));

test('the question is the last one of a conversation, without what comes before and after it', () => {
  const suffix = segments(['memoryFooter', 1], ['history', 5], ['history', 6], ['query', 4], ['footer', 2]);
  expect(questionRange(suffix)).toEqual({ start: 12, end: 16 });
});

test('an empty question is represented by the token before it', () => {
  expect(questionRange(segments(['template', 3], ['query', 0], ['template', 2]))).toEqual({ start: 2, end: 3 });
});
