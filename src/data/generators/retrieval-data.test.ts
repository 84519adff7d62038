import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { fileSource } from '../dataset-source.ts';
import { verifyDataset } from '../verify/verify-dataset.ts';
import type { ContextWindow } from './dataset-generator.ts';
import { retrievalData, retrievalKinds, retrievalUsers } from './retrieval-data.ts';
import { containsTokens } from '../normalise-text.ts';

const window: ContextWindow = { contextTokens: 512, countTokens: async (texts) => texts.map((text) => text.length) };

test('the file has the questions of the suite for that seed, with the metadata of strategies, and is sound', async () => {
  const text = await retrievalData.make(3, 2, window);
  expect(await retrievalData.make(3, 2, window)).toBe(text);
  expect(await retrievalData.make(4, 2, window)).not.toBe(text);
  const records = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const users = retrievalUsers(3, 2);
  const questions = users.flatMap((user) => user.questions.map((question) => ({ type: 'question', ...question })));
  expect(records.filter(({ type }) => type === 'question')).toEqual(questions);
  const memories = records.filter(({ type }) => type === 'memory');
  expect(memories).toEqual(users.flatMap((user) => user.memories.map((memory) => ({ type: 'memory', ...memory }))));
  expect(memories[200]).toMatchObject({
    ...{ userId: 'r02', section: expect.any(String), memoryType: expect.any(String) },
    ...{ reinforcement: expect.any(Number), preference: expect.any(Boolean), createdAt: expect.stringMatching(/Z$/) },
  });

  using folder = new TestFolder();
  const path = folder.file('retrieval.jsonl');
  writeFileSync(path, text);
  const { valid, statistics } = await verifyDataset(fileSource(path));
  expect(valid).toBe(true);
  expect(statistics).toMatchObject({ users: 2, items: 0, questions: 48, itemsAUser: { least: 24, most: 24 } });
});

const users = retrievalUsers(3, 6, 120);
const questions = users.flatMap((user) => user.questions.map((question) => ({ ...question, user })));

test('asks each user four different questions of every kind', () => {
  for (const user of users) {
    for (const kind of retrievalKinds) {
      expect(user.questions.filter((question) => question.category === kind)).toHaveLength(4);
    }
    expect(new Set(user.questions.map(({ query }) => query)).size).toBe(user.questions.length);
  }
});

test('evidence belongs to the user, is distinct, and was said before the question', () => {
  for (const { user, evidence, askedAt } of questions) {
    expect(evidence.length).toBeGreaterThan(0);
    expect(new Set(evidence).size).toBe(evidence.length);
    for (const id of evidence) {
      const memory = user.memories.find(({ memoryId }) => memoryId === id);
      expect(Date.parse(memory!.createdAt)).toBeLessThan(Date.parse(askedAt));
    }
  }
});

test('all preferences of a user are the evidence of a question for all of them', () => {
  for (const user of users) {
    const preferences = user.memories.filter(({ preference }) => preference).map(({ memoryId }) => memoryId);
    const whole = user.questions.filter(({ category, evidence }) => category === 'preference' && evidence.length > 1);
    expect(whole).toHaveLength(2);
    for (const { evidence } of whole) expect([...evidence].sort()).toEqual(preferences);
  }
});

test('a question for what is recent needs all of the last seven days, and nothing else is as recent', () => {
  for (const { user, category, evidence, askedAt } of questions) {
    if (category !== 'recent' || evidence.length === 1) continue;
    const from = Date.parse(askedAt.slice(0, 10)) - 6 * 86_400_000;
    const recent = user.memories.filter(({ createdAt }) => Date.parse(createdAt) >= from);
    expect([...evidence].sort()).toEqual(recent.map(({ memoryId }) => memoryId).sort());
  }
});

test('a question across two memories names neither the person nor the answer', () => {
  for (const { user, category, query, evidence } of questions) {
    if (category !== 'multi-hop') continue;
    expect(evidence).toHaveLength(2);
    const bridge = user.memories.find(({ memoryId }) => memoryId === evidence[0])!;
    const [, role, name] = /^My (.+) is called (.+)\.$/.exec(bridge.content)!;
    expect(query).toContain(`my ${role}`);
    expect(containsTokens(query, name!, 'en')).toBe(false);
    expect(user.memories.find(({ memoryId }) => memoryId === evidence[1])!.content).toContain(name!);
  }
});

test('Chinese questions are Chinese, the others are not', () => {
  for (const { category, query } of questions) expect(/\p{Script=Han}/u.test(query)).toBe(category === 'chinese');
});
