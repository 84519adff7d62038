import { afterAll, beforeAll, expect, it } from 'vitest';
import { foundMemories, openParts } from '../../scripts/open-parts.ts';
import { fakeAdapter } from '../../test/fixtures/fake-engine/fake-adapter.ts';
import { openDatabase } from '../store/database.ts';
import type { OpenEngine } from './answer-turn.ts';
import type { PromptRules } from './prompt/build-prompt.ts';
import { RAGSystem } from './rag-system.ts';
import { RetrievalCounts } from './retrieval-counts.ts';

let opened: OpenEngine;

beforeAll(async () => {
  const engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  opened = { engine, session: await engine.openSession('turns') };
});
afterAll(async () => opened.engine[Symbol.asyncDispose]());

const found = ['a', 'b', 'c'].map((id) => ({ memoryId: id, content: `I like ${id}.`, score: 1, metadata: {} }));

async function ask(select: PromptRules['select']) {
  using database = openDatabase({ path: ':memory:' });
  const parts = openParts(opened, database, { placement: 'rank', labels: 'index', ...(select ? { select } : {}) });
  await using system = new RAGSystem({ ...parts, log: null, retrievals: new RetrievalCounts() });
  const request = { query: 'Do I like b?', sessionId: 's', userId: 'ann', maxNewTokens: 2, history: [] };
  const { memoriesUsed, trace } = await system.chat({ ...request, retrieved: foundMemories(found) });
  const ids = (memories: readonly { readonly memoryId: string }[]) => memories.map(({ memoryId }) => memoryId).join('');
  return [ids(trace.retrieved), ids(memoriesUsed)];
}

it('shows what the rule selects, in its order, and records all that was retrieved', async () => {
  expect(await ask(undefined)).toEqual(['abc', 'abc']);
  expect(await ask((memories) => memories.slice(1).toReversed())).toEqual(['abc', 'cb']);
  const asked: PromptRules['select'] = (memories, query) =>
    memories.filter(({ content }) => query.includes(content.slice(0, -1)));
  expect(await ask(asked)).toEqual(['abc', 'b']);
});

it('refuses a memory that was not retrieved', async () => {
  const other = { ...found[0]!, memoryId: 'd' };
  await expect(ask(() => [other])).rejects.toMatchObject({
    code: 'bad-option',
    message: 'rule select: memory d was not retrieved',
  });
});
