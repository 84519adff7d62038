import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { grammars } from '../../base/grammar.ts';
import { readDataset } from '../reader.ts';
import { makeRecallDataset } from './recall-dataset.ts';

describe.each(['en', 'zh'] as const)('recall-%s', (language) => {
  const shipped = fileURLToPath(new URL(`../../../datasets/recall-${language}.jsonl`, import.meta.url));

  test('is what the grammar and seed 7 make: else run `npm run datasets`', async () => {
    const { text, users } = makeRecallDataset(language, 7, 20);
    expect(createHash('sha256').update(readFileSync(shipped)).digest('hex')).toBe(
      createHash('sha256').update(text).digest('hex'),
    );
    const read = await readDataset(shipped);
    const { unknownAnswer } = grammars[language];
    expect(read).toMatchObject({ name: `recall-${language}`, language, unknownAnswer });
    expect(read.users.map((user) => user.memories.map((memory) => memory.memoryId))).toEqual(
      users.map((user) => user.memories.map((memory) => memory.memoryId)),
    );
    expect(read.users.map((user) => user.kind)).toEqual(users.map((user) => user.kind));
  });
});

test('no user or item of one language has an id of the other', () => {
  const [english, chinese] = (['en', 'zh'] as const).map((language) => makeRecallDataset(language, 7, 20).users);
  const ids = new Set(english!.flatMap((user) => [user.userId, ...user.items.map(({ itemId }) => itemId)]));
  for (const { userId, items } of chinese!) {
    expect(ids).not.toContain(userId);
    for (const { itemId } of items) expect(ids).not.toContain(itemId);
  }
});
