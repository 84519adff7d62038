import { expect, it } from 'vitest';
import type { DatasetItem } from '../../../data/dataset.ts';
import type { PromptInfo } from '../../../store/records/prompt-info.ts';
import { compareShownMemories } from './compare-shown-memories.ts';

/** Whether a prompt with one memory, labelled as given, holds the answer "two". */
function holdsGold(content: string, label = '[1] '): boolean {
  const item = {
    query: 'How many dogs?',
    history: [],
    answer: 'two',
    acceptedAnswers: ['2'],
  } as unknown as DatasetItem;
  const memory = { memoryId: 'donor-1', content, score: 1, metadata: {} };
  const segment = {
    role: 'memory',
    text: `${label}${content}\n`,
    memoryId: 'donor-1',
    tokenIds: [],
    origin: 'injected',
  };
  const prompt = { segments: [segment], budget: { dropped: [] } } as unknown as PromptInfo;
  const given = { item, visible: [], memories: [memory], language: 'en', windowTokens: 100, reserveTokens: 10 };
  return compareShownMemories(given, prompt).holdsGold;
}

it('finds an answer in the text of a memory, and not in its label', () => {
  expect(holdsGold('I have two dogs.')).toBe(true);
  expect(holdsGold('I have 2 dogs.', '- ')).toBe(true);
  expect(holdsGold('I have dogs.')).toBe(false);
  expect(holdsGold('I have dogs.', '[2] ')).toBe(false);
  expect(holdsGold('[2] is where I live.', '[2] ')).toBe(true);
});
