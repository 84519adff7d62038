import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { verifyDataset } from '../verify/verify-dataset.ts';
import type { ContextWindow } from './dataset-generator.ts';
import { retrievalData, retrievalUsers } from './retrieval-data.ts';

const window: ContextWindow = { contextTokens: 512, countTokens: async (texts) => texts.map((text) => text.length) };

test('the file has the questions of the suite for that seed, with the metadata of strategies, and is sound', async () => {
  const text = await retrievalData.make(3, 2, window);
  expect(await retrievalData.make(3, 2, window)).toBe(text);
  expect(await retrievalData.make(4, 2, window)).not.toBe(text);
  const records = text.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore
  const users = retrievalUsers(3, 2);
  expect(records.filter(({ type }) => type === 'question')).toEqual(
    users.flatMap(({ userId, questions }) =>
      questions.map(({ questionId, kind, query, evidence, askedAt }) => {
        return { type: 'question', itemId: questionId, userId, query, evidence, category: kind, askedAt };
      }),
    ),
  );
  const memories = records.filter(({ type }) => type === 'memory');
  expect(memories).toHaveLength(users.reduce((sum, user) => sum + user.memories.length, 0));
  const { memoryId, metadata } = users[1]!.memories[5]!;
  expect(memories.find((memory) => memory['memoryId'] === memoryId)).toMatchObject({
    ...{ createdAt: metadata.createdAt, section: metadata.section, memoryType: metadata.memory_type },
    ...{ reinforcement: metadata.reinforcement, preference: metadata.preference },
  });

  using folder = new TestFolder();
  const path = folder.file('retrieval.jsonl');
  writeFileSync(path, text);
  const { valid, statistics } = await verifyDataset(path);
  expect(valid).toBe(true);
  expect(statistics).toMatchObject({ users: 2, items: 0, questions: 48, itemsAUser: { least: 24, most: 24 } });
});
