import { expect, test } from 'vitest';
import { memoryEntry } from './memory-entry.ts';

test('a memory brings the fields that strategies read, under the names of the source documents, and no others', () => {
  const plain = { userId: 'ann', memoryId: 'm', content: 'x', createdAt: '2026-01-01T00:00:00Z', preference: false };
  const { createdAt, preference } = plain;
  expect(memoryEntry(plain)).toEqual({ memoryId: 'm', content: 'x', metadata: { createdAt, preference } });
  const fields = {
    ...{ value: 'x', relation: 'city', updatedAt: '2026-02-01T00:00:00Z', uri: 'user/home.md', scope: 'project' },
    ...{ section: 'home', reinforcement: 3, links: ['n'], confidence: 0.5 },
  } as const;
  expect(memoryEntry({ ...plain, ...fields, memoryType: 'fact' }).metadata).toEqual({
    ...{ createdAt, preference, ...fields, memory_type: 'fact' },
  });
});
