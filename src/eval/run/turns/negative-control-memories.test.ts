import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import { readRunDatasets } from '../../../data/join-datasets.ts';
import { controlMemories, controlUsers } from './negative-control-memories.ts';

const files = ['datasets/recall-en.jsonl', 'test/fixtures/hand-zh.jsonl'];
const { parts } = await readRunDatasets({
  dataset: files.map((file) => join(import.meta.dirname, '../../../..', file)),
});
const [english, chinese] = parts.map((part) => part.users);
const [asker, donor] = english!;

/** What the control is shown in place of the first `count` memories of a user. */
function shownTo(user: DatasetUser, count: number, users: readonly DatasetUser[], changes: Partial<DatasetItem> = {}) {
  const recalled = user.memories.slice(0, count).map((memory) => ({ ...memory, score: 1, metadata: { ...memory } }));
  return controlMemories(recalled, user, { ...user.items[0]!, ...changes }, { users, seed: 7 });
}

test('the control is shown memories of another user with the same language', () => {
  const users = parts.flatMap((part) => part.users);
  for (const asker of [users[0]!, users.at(-1)!]) {
    const shown = shownTo(asker, 3, users);
    expect(shown).toHaveLength(3);
    const of = new Map(users.flatMap((user) => user.memories.map(({ memoryId }) => [`donor-${memoryId}`, user])));
    for (const { memoryId } of shown) {
      expect(of.get(memoryId)!.languageProfile).toEqual(asker.languageProfile);
      expect(of.get(memoryId)!.userId).not.toBe(asker.userId);
    }
  }
});

test('no memory is donated that answers the question', () => {
  const answer = shownTo(asker!, 3, [asker!, donor!])[0]!.metadata['value'] as string;
  const shown = shownTo(asker!, 3, [asker!, donor!], { answer });
  expect(shown).toHaveLength(3);
  expect(shown.filter(({ content }) => content.includes(answer))).toEqual([]);
});

test('no memory is donated that repeats one of the user who asks', () => {
  const same = { ...donor!, memories: asker!.memories };
  expect(shownTo(asker!, 1, [asker!, same], { answer: null })).toEqual([]);
  expect(shownTo(asker!, 1, [asker!, donor!], { answer: null })).toHaveLength(1);
});

test('the only user of a language gets memories from the bundled data set in it', async () => {
  const [alone, other] = chinese!;
  const donors = await controlUsers([alone!]);
  expect(donors.length).toBeGreaterThan(10);
  const shown = shownTo(alone!, 2, donors);
  expect(shown).toHaveLength(2);
  const own = new Set(alone!.memories.map(({ content }) => content));
  for (const { content } of shown) expect(own).not.toContain(content);
  expect(await controlUsers([alone!, other!])).toEqual([alone, other]);
});

test('the only user of a language without a bundled data set gets no donors', async () => {
  const german = { ...asker!, languageProfile: { ...asker!.languageProfile, language: 'de' } };
  expect(await controlUsers([german])).toEqual([german]);
  expect(shownTo(german, 2, [german])).toEqual([]);
});
