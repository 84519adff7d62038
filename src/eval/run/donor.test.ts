import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAskedData } from '../../data/asked-data.ts';
import { donated } from './donor.ts';

const root = join(import.meta.dirname, '../../..');

test('the control is shown memories of another user, in the language of the one who asks', async () => {
  const files = ['datasets/recall-en.jsonl', 'test/fixtures/hand-zh.jsonl'].map((file) => join(root, file));
  const { parts } = await readAskedData({ dataset: files });
  const users = parts.flatMap((part) => part.users);
  for (const asker of [users[0]!, users.at(-1)!]) {
    const recalled = asker.memories.slice(0, 3).map((memory) => ({ ...memory, score: 1, metadata: { ...memory } }));
    const shown = donated(recalled, users, asker, asker.items[0]!.itemId, 7);
    expect(shown).toHaveLength(3);
    const of = new Map(users.flatMap((user) => user.memories.map(({ memoryId }) => [`donor-${memoryId}`, user])));
    for (const { memoryId } of shown) {
      expect(of.get(memoryId)!.languageProfile).toEqual(asker.languageProfile);
      expect(of.get(memoryId)!.userId).not.toBe(asker.userId);
    }
  }
});
