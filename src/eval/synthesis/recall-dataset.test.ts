import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readDataset } from '../dataset/reader.ts';
import { metricsSelfTest } from '../metrics/self-test.ts';
import { makeRecallDataset } from './recall-dataset.ts';

const shipped = fileURLToPath(new URL('../../../datasets/recall-en.jsonl', import.meta.url));

test('the data set that ships is what the grammar and seed 7 make: else run `npm run data:make`', async () => {
  const { text, users } = makeRecallDataset(7, 40);
  expect(createHash('sha256').update(readFileSync(shipped)).digest('hex')).toBe(
    createHash('sha256').update(text).digest('hex'),
  );
  const read = await readDataset(shipped);
  expect(read).toMatchObject({ name: 'recall-en', language: 'en', unknownAnswer: "I don't know." });
  expect(read.users.map((user) => user.memories.map((memory) => memory.memoryId))).toEqual(
    users.map((user) => user.memories.map((memory) => memory.memoryId)),
  );
  expect(read.users.map((user) => user.kind)).toEqual(users.map((user) => user.kind));
});

test('the metrics tell its golds apart', async () => {
  const { users, language } = await readDataset(shipped);
  const golds = users.flatMap((user) => user.items.flatMap((item) => item.answer ?? []));
  expect(metricsSelfTest(golds, language, { seed: 7 }).held).toBe(true);
});
