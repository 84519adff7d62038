import { expect, it } from 'vitest';
import { grammars } from '../../base/english-and-chinese-wordings.ts';
import { coreferenceData } from './growing-user-generators.ts';
import type { ContextWindow } from './dataset-generator.ts';
import type { WrittenItem, WrittenMemory } from '../record-schemas.ts';

const window: ContextWindow = { contextTokens: 2048, countTokens: async (texts) => texts.map((text) => text.length) };

it.each(coreferenceData)('$name: a pronoun follows the memory that names the person', async ({ language, make }) => {
  const text = await make(3, 12, window);
  const records = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as WrittenMemory | WrittenItem);
  const memories = new Map(records.flatMap((record) => (record.type === 'memory' ? [[record.memoryId, record]] : [])));
  const items = records.filter((record) => record.type === 'item');
  expect(memories.size).toBe(60);
  expect(items.map(({ condition }) => condition)).toEqual(items.map((_item, index) => 1 + (index % 2)));
  const pronouns = grammars[language].voices.pronouns.flatMap(({ name, possessive }) => [name, possessive]);
  const words = (text: string): readonly string[] =>
    language === 'en' ? text.toLowerCase().split(/[^a-z']+/) : [...text];
  for (const { condition, evidence, answer, userId } of items) {
    const [before, last] = evidence!.map((id) => memories.get(id)!);
    expect((last ?? before)!.content.toLowerCase()).toContain(answer!.toLowerCase());
    if (condition === 1) continue;
    expect([...memories.keys()].indexOf(last!.memoryId)).toBe([...memories.keys()].indexOf(before!.memoryId) + 1);
    expect(words(last!.content).some((word) => pronouns.includes(word))).toBe(true);
    const others = items.filter((item) => item.userId === userId && item.condition === 2 && item.answer !== answer);
    expect(others).toHaveLength(1);
    expect(last!.content).not.toContain(others[0]!.answer);
  }
});
