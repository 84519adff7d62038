import { describe, expect, it } from 'vitest';
import type { MemorySearchResult, RetrieveOptions } from '../retrieval/retriever.ts';
import { type MemoryKeeper, type RetrievalSettings, retrieveForTurn } from './memory-keeper.ts';
import { nothingRetrieved, type RetrievedMemories } from './memory-system.ts';

const memory = (memoryId: string, createdAt: string, preference = false): MemorySearchResult => ({
  memoryId,
  content: memoryId,
  score: 0.5,
  metadata: { createdAt, preference },
});
const first = memory('first', '2026-01-01T00:00:00Z', true);
const second = memory('second', '2026-01-02T00:00:00Z');
const found: RetrievedMemories = { memories: [second], elapsedMs: 2, record: null };
const history = [{ role: 'user', content: 'Hi' }] as const;

/** Settings on a keeper that finds `found`, and every question that it was asked. */
function settings(retrieves: RetrievalSettings['retrieves']) {
  const asked: (readonly [string, RetrieveOptions | string | undefined])[] = [];
  const memories: Pick<MemoryKeeper, 'retrieveStored' | 'all'> = {
    retrieveStored: async (query, options) => {
      asked.push([query, options]);
      return found;
    },
    all: (userId) => {
      asked.push(['all', userId]);
      return [first, second];
    },
  };
  return { asked, of: { memories: memories as MemoryKeeper, retrieves, topK: 5, threshold: 0.2 } };
}

const request = { query: 'Who?', sessionId: 's', userId: 'ann' };

describe('the memories of a turn', () => {
  it.each(['nothing', 'retrieved', 'evidence', 'all', 'donor'] as const)(
    'are those that the request brings, for an arm that is given %s',
    async (retrieves) => {
      const { of, asked } = settings(retrieves);
      expect(await retrieveForTurn({ ...request, retrieved: found }, of, history)).toBe(found);
      expect(asked).toEqual([]);
    },
  );

  it('are otherwise retrieved with the conversation so far', async () => {
    const { of, asked } = settings('retrieved');
    expect(await retrieveForTurn(request, of, history)).toBe(found);
    expect(await retrieveForTurn({ query: 'Who?', sessionId: 's', topK: 1 }, of, [])).toBe(found);
    expect(asked).toEqual([
      ['Who?', { topK: 5, threshold: 0.2, userId: 'ann', history }],
      ['Who?', { topK: 1, threshold: 0.2, history: [] }],
    ]);
  });

  it('are none, or all of the user, newest first', async () => {
    const none = settings('nothing');
    expect(await retrieveForTurn(request, none.of, history)).toBe(nothingRetrieved);
    const all = settings('all');
    expect(await retrieveForTurn(request, all.of, history)).toMatchObject({ memories: [second, first], record: null });
    expect([...none.asked, ...all.asked]).toEqual([['all', 'ann']]);
  });

  it.each([
    ['evidence', 'an arm that is given the evidence cannot retrieve them itself'],
    ['donor', "an arm that is given another user's memories cannot retrieve them itself"],
  ] as const)('cannot be retrieved if only a data set knows them: %s', async (retrieves, message) => {
    const refused = retrieveForTurn(request, settings(retrieves).of, history);
    await expect(refused).rejects.toMatchObject({ code: 'bad-option', message });
  });
});

it('preferences come before other retrieved memories, each once, and the times add up', async () => {
  const retrieved: RetrievedMemories = { memories: [second, first], elapsedMs: 2, record: null };
  const hybrid = { ...settings('retrieved').of, preferencesOnly: true };
  const { memories, elapsedMs } = await retrieveForTurn(
    { ...request, retrieved, preferences: [first] },
    hybrid,
    history,
  );
  expect(memories).toEqual([first, second]);
  expect(elapsedMs).toBeGreaterThanOrEqual(2);
});
