import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRunDatasets } from '../../../data/run-datasets.ts';
import { controlMemories, controlUsers } from './negative-control.ts';

const root = join(import.meta.dirname, '../../../..');

test('the control is shown memories of another user, in the language of the one who asks', async () => {
  const files = ['datasets/recall-en.jsonl', 'test/fixtures/hand-zh.jsonl'].map((file) => join(root, file));
  const { parts } = await readRunDatasets({ dataset: files });
  const users = parts.flatMap((part) => part.users);
  for (const asker of [users[0]!, users.at(-1)!]) {
    const recalled = asker.memories.slice(0, 3).map((memory) => ({ ...memory, score: 1, metadata: { ...memory } }));
    const shown = controlMemories(recalled, asker, asker.items[0]!, { users, seed: 7 });
    expect(shown).toHaveLength(3);
    const of = new Map(users.flatMap((user) => user.memories.map(({ memoryId }) => [`donor-${memoryId}`, user])));
    for (const { memoryId } of shown) {
      expect(of.get(memoryId)!.languageProfile).toEqual(asker.languageProfile);
      expect(of.get(memoryId)!.userId).not.toBe(asker.userId);
    }
  }
});

test('no memory is donated that answers the question', async () => {
  const file = join(root, 'datasets/recall-en.jsonl');
  const { users } = (await readRunDatasets({ dataset: [file] })).parts[0]!;
  const [asker, donor] = [users[0]!, users[1]!];
  const recalled = asker.memories.slice(0, 3).map((memory) => ({ ...memory, score: 1, metadata: { ...memory } }));
  const first = controlMemories(recalled, asker, asker.items[0]!, { users: [asker, donor], seed: 7 })[0]!;
  const question = { ...asker.items[0]!, answer: first.metadata['value'] as string };
  const shown = controlMemories(recalled, asker, question, { users: [asker, donor], seed: 7 });
  expect(shown).toHaveLength(3);
  expect(shown.filter(({ content }) => content.includes(question.answer))).toEqual([]);
});

test('no memory is donated that says what the asker has said', async () => {
  const file = join(root, 'datasets/recall-en.jsonl');
  const { users } = (await readRunDatasets({ dataset: [file] })).parts[0]!;
  const [asker, donor] = [users[0]!, users[1]!];
  const recalled = asker.memories.slice(0, 1).map((memory) => ({ ...memory, score: 1, metadata: { ...memory } }));
  const same = { ...donor, memories: asker.memories };
  expect(
    controlMemories(recalled, asker, { ...asker.items[0]!, answer: null }, { users: [asker, same], seed: 7 }),
  ).toEqual([]);
  expect(
    controlMemories(recalled, asker, { ...asker.items[0]!, answer: null }, { users: [asker, donor], seed: 7 }),
  ).toHaveLength(1);
});

test('who is the only user of a language has donors of the data set that ships in it', async () => {
  const { parts } = await readRunDatasets({ dataset: [join(root, 'test/fixtures/hand-zh.jsonl')] });
  const [alone, other] = parts[0]!.users;
  const donors = await controlUsers([alone!]);
  expect(donors.length).toBeGreaterThan(10);
  const retrieved = alone!.memories.slice(0, 2).map((memory) => ({ ...memory, score: 1, metadata: { ...memory } }));
  const shown = controlMemories(retrieved, alone!, alone!.items[0]!, { users: donors, seed: 7 });
  expect(shown).toHaveLength(2);
  const own = new Set(alone!.memories.map(({ content }) => content));
  for (const { content } of shown) expect(own).not.toContain(content);
  expect(await controlUsers([alone!, other!])).toEqual([alone, other]);
});
