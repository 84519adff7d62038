import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { expectFailure } from '../../test/fixtures/bench-failure.ts';
import { joinDatasets } from './join-datasets.ts';
import type { DatasetUser } from './dataset.ts';

const languageProfile = { language: 'en', unknownAnswer: "I don't know." } as const;
function user(userId: string): DatasetUser {
  const said = { content: 'My dog is called Rex.', createdAt: '2026-03-01T09:00:00Z', preference: false };
  const asked = { query: 'What is my dog called?', answer: 'Rex', askedAt: '2026-06-01T09:00:00Z', category: 'plain' };
  const lists = { acceptedAnswers: [], evidence: [`${userId}-m`], superseded: [], history: [] };
  const memories = [{ userId, memoryId: `${userId}-m`, ...said }];
  return { userId, languageProfile, memories, items: [{ userId, itemId: `${userId}-q`, ...asked, ...lists }] };
}

type Change = (one: DatasetUser) => Partial<DatasetUser>;
function placed(name: string, userIds: readonly string[], change: Change = () => ({})) {
  const users = userIds.map(user).map((one) => ({ ...one, ...change(one) }));
  const hash = createHash('sha256').update(JSON.stringify([name, users]));
  const sha256 = hash.digest('hex');
  return { file: `${name}.jsonl`, dataset: { name, sha256, ...languageProfile, declared: {}, users } };
}

const join = (...parts: Parameters<typeof joinDatasets>[0]) => joinDatasets(parts);

test('a single data set keeps its name and hash', () => {
  const one = placed('recall-en', ['u1', 'u2']);
  expect(joinDatasets([one])).toEqual({ name: 'recall-en', sha256: one.dataset.sha256, parts: [one.dataset] });
});

test('several have a joined name, and a hash that depends on each and on the order', () => {
  const [a, b, c] = [placed('a', ['u1']), placed('b', ['v1']), placed('b', ['w1'])];
  const joined = joinDatasets([a, b]);
  expect(joined.name).toBe('a+b');
  expect(joined.parts).toEqual([a.dataset, b.dataset]);
  const hashes = [[a, b], [b, a], [a, c], [a]].map((parts) => joinDatasets(parts).sha256);
  expect(new Set(hashes).size).toBe(4);
});

test.each([
  ['user', 'u2', () => ({})],
  ['item', 'u2-q', (one: DatasetUser) => ({ userId: `other-${one.userId}`, memories: [] })],
  ['memory', 'u2-m', (one: DatasetUser) => ({ userId: `other-${one.userId}`, items: [] })],
])('refuses an id of a %s that two of them share, naming both files', async (what, id, changes) => {
  const refused = () => join(placed('a', ['u1', 'u2']), placed('c', ['w1']), placed('b', ['u2'], changes));
  const hint = 'give them different ids, or run them one at a time';
  await expectFailure(refused, 'bad-data', `a.jsonl and b.jsonl both have ${what} "${id}"`, hint);
});

test('refuses a conversation that two share, since its session is found by its name', async () => {
  const talking = (one: DatasetUser) => ({ items: one.items.map((item) => ({ ...item, conversation: 'talk' })) });
  const refused = () => join(placed('a', ['u1'], talking), placed('b', ['v1'], talking));
  await expectFailure(refused, 'bad-data', 'a.jsonl and b.jsonl both have conversation "talk"');
});

test('the same data set twice is refused, by its file or by its bytes', async () => {
  const [a, b] = [placed('a', ['u1']), placed('b', ['v1'])];
  await expectFailure(() => join(a, b, a), 'bad-option', 'a.jsonl is named twice');
  const copied = () => join(a, { ...a, file: 'copy.jsonl' });
  await expectFailure(copied, 'bad-option', 'a.jsonl and copy.jsonl are the same data set');
});
