import { expect, it } from 'vitest';
import type { DatasetUser } from './dataset.ts';
import { visibleMemories } from './visible-memories.ts';

it('a question sees the memories that existed when it was asked, and none created later', () => {
  const memories = ['2026-01-01T00:00:00Z', '2026-03-01T12:00:00+02:00', '2026-03-01T10:00:01Z'].map(
    (createdAt, at) => ({
      ...{ userId: 'ann', memoryId: `m${at}`, content: 'x', preference: false, createdAt },
    }),
  );
  const user: DatasetUser = {
    ...{ userId: 'ann', languageProfile: { language: 'en', unknownAnswer: 'no' }, memories, items: [] },
  };
  const visible = (askedAt: string) => visibleMemories(user, { askedAt }).map(({ memoryId }) => memoryId);
  expect(visible('2026-03-01T10:00:00Z')).toEqual(['m0', 'm1']);
  expect(visible('2026-03-01T10:00:01Z')).toEqual(['m0', 'm1', 'm2']);
  expect(visible('2025-12-31T23:59:59Z')).toEqual([]);
});
