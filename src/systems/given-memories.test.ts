import { expect, it } from 'vitest';
import type { MemorySearchResult } from '../retrieval/retriever.ts';
import type { RetrievalRecord } from '../store/records/turn-record.ts';
import { givenMemories, type MemorySources } from './retrieve.ts';

const memory = (memoryId: string, createdAt: string, preference = false): MemorySearchResult => ({
  memoryId,
  content: memoryId,
  score: 0.5,
  metadata: { createdAt, preference },
});

const old = memory('old', '2026-01-01T00:00:00Z');
const tea = memory('tea', '2026-01-02T00:00:00Z', true);
const recent = memory('recent', '2026-01-03T00:00:00Z');
const record: RetrievalRecord = {
  strategy: 'router',
  timingsMs: { embedding: 1, search: 2, ranking: 0 },
  flags: [],
  details: {},
};

const sources: MemorySources = {
  retrieved: { memories: [recent, tea], elapsedMs: 3, record },
  all: [tea, old, recent],
  preferences: [old],
  evidence: [old],
  donated: [memory('foreign', '2026-01-04T00:00:00Z')],
};

const given = (retrieves: Parameters<typeof givenMemories>[0]['retrieves']) =>
  givenMemories({ retrieves, injects: 'nothing' }, sources);

it('are those that were retrieved, with their time and the record of the retriever', () => {
  expect(given('retrieved')).toEqual({ retrieved: sources.retrieved });
});

it('are none, or the evidence, at no cost', () => {
  expect(given('nothing')).toEqual({ retrieved: { memories: [], elapsedMs: 0, record: null } });
  expect(given('evidence')).toEqual({ retrieved: { memories: [old], elapsedMs: 0, record: null } });
});

it('are all of the user, the newest first, without a retriever', () => {
  const { memories, record: none } = given('all').retrieved!;
  expect(memories.map(({ memoryId }) => memoryId)).toEqual(['recent', 'tea', 'old']);
  expect(none).toBeNull();
});

it("are another user's, in the time that retrieving the user's own took", () => {
  expect(given('donor')).toEqual({ retrieved: { memories: sources.donated, elapsedMs: 3, record: null } });
});

it('come with all preferences of the user where these alone are injected', () => {
  expect(givenMemories({ retrieves: 'retrieved', injects: 'preferences' }, sources)).toEqual({
    retrieved: sources.retrieved,
    preferences: [old],
  });
});
