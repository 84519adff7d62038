import { expect, test } from 'vitest';
import type { DatasetMemory } from '../../data/dataset.ts';
import { memoryEntry } from './data-to-system-input.ts';

test('a memory keeps the fields that retrievers read, under their names, and no others', () => {
  const plain = { userId: 'ann', memoryId: 'm', content: 'x', createdAt: '2026-01-01T00:00:00Z', preference: false };
  const { createdAt, preference } = plain;
  expect(memoryEntry(plain)).toEqual({ memoryId: 'm', content: 'x', metadata: { createdAt, preference } });
  const fields: Partial<DatasetMemory> = {
    ...{ value: 'x', relation: 'city', updatedAt: '2026-02-01T00:00:00Z', uri: 'user/home.md', section: 'home' },
    ...{ reinforcement: 3, links: ['n'], confidence: 0.5 },
    scope: 'project',
  };
  expect(memoryEntry({ ...plain, ...fields, memoryType: 'fact' }).metadata).toEqual({
    ...{ createdAt, preference, ...fields, memory_type: 'fact' },
  });
});
