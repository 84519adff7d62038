import { describe, expect, it } from 'vitest';
import type { RetrievalRecord } from '../store/records/turn-record.ts';
import type { MemorySearchResult } from '../retrieval/retriever.ts';
import { memoriesForArm, type MemorySources } from './memories-for-arm.ts';

const memory = (memoryId: string, createdAt: string, preference = false): MemorySearchResult => ({
  memoryId,
  content: memoryId,
  score: 0.5,
  metadata: { createdAt, preference },
});
const old = memory('old', '2026-01-01T00:00:00Z');
const tea = memory('tea', '2026-01-02T00:00:00Z', true);
const recent = memory('recent', '2026-01-03T00:00:00Z');
const timingsMs = { embedding: 1, search: 2, ranking: 0 };
const record: RetrievalRecord = { strategy: 'router', timingsMs, flags: [], details: {} };
const sources: MemorySources = {
  retrieved: { memories: [recent, tea], elapsedMs: 3, record },
  all: [tea, old, recent],
  preferences: [old],
  evidence: [old],
  donated: [memory('foreign', '2026-01-04T00:00:00Z')],
};

describe('an arm is given', () => {
  it.each([
    ['retrieved', ['recent', 'tea'], 3, record],
    ['nothing', [], 0, null],
    ['evidence', ['old'], 0, null],
    ['all', ['recent', 'tea', 'old'], expect.any(Number), null],
    ['donor', ['foreign'], 3, null],
  ] as const)('%s: these memories, in that time, with that record', (retrieves, ids, elapsedMs, kept) => {
    const { retrieved, ...more } = memoriesForArm({ retrieves, injects: 'nothing' }, sources);
    expect(retrieved!.memories.map(({ memoryId }) => memoryId)).toEqual(ids);
    expect(retrieved).toMatchObject({ elapsedMs, record: kept });
    expect(more).toEqual({});
  });

  it('all preferences of the user besides, where these alone are injected', () => {
    expect(memoriesForArm({ retrieves: 'retrieved', injects: 'preferences' }, sources)).toEqual({
      retrieved: sources.retrieved,
      preferences: [old],
    });
  });
});
