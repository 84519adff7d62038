import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NewMemory, Retrieval, RetrieveOptions } from '../retriever.ts';
import type { SalienceRule } from './salience-ranking.ts';
import { SalienceRetriever, withinBudget } from './salience-retriever.ts';
import { backend, embeddings } from '../../../test/fixtures/shipped-embedder.ts';

/** One a word, so that budgets can be counted by hand. */
const countTokens = async (texts: readonly string[]): Promise<number[]> =>
  texts.map((text) => text.split(/\s+/).length);
const now = new Date('2026-06-01T12:00:00Z');

let retriever: SalienceRetriever;
function open(settings: { readonly maxTokens?: number; readonly rule?: SalienceRule } = {}): void {
  retriever = new SalienceRetriever(embeddings, { backend, countTokens, ...settings });
}
beforeEach(() => open());
afterEach(() => retriever.close());

function memory(memoryId: string, content: string, metadata: Readonly<Record<string, unknown>> = {}): NewMemory {
  return { memoryId, userId: 'ann', content, metadata: { createdAt: '2026-03-01T09:00:00Z', ...metadata } };
}

const ask = (query: string, options: Partial<RetrieveOptions> = {}): Promise<Retrieval> =>
  retriever.retrieve(query, { userId: 'ann', topK: 5, threshold: -1, now, ...options });
const ids = ({ memories }: Retrieval): string[] => memories.map(({ memoryId }) => memoryId);

describe('the fast path', () => {
  beforeEach(async () => {
    await retriever.addMemories([
      memory('p1', 'I like to drink green tea.', { preference: true }),
      memory('m1', 'I live in Oslo.'),
      memory('p2', 'I prefer dark mode.', { memory_type: 'preference', section: 'Editor', reinforcement: 4 }),
      memory('t1', 'Ship the parser.', { memory_type: 'task' }),
      memory('d1', 'We chose SQLite.', { uri: 'agent/decisions.md', memory_type: 'note' }),
    ]);
  });

  test('a question that points to a file gets its entries in file order, without a search', async () => {
    const retrieval = await ask('What are my preferences?');
    expect(ids(retrieval)).toEqual(['p1', 'p2']);
    expect(retrieval).toMatchObject({
      memories: [{ score: 1 }, { score: 1 }],
      timingsMs: { embedding: 0 },
      tokensUsed: 10,
      tokenBudget: 1_500,
    });
    expect(retrieval.details).toEqual({ path: 'fast', files: ['user/preferences.md'], candidates: 2 });
  });

  test('a file is not cut by topK, and by the budget entry by entry', async () => {
    expect(ids(await ask('What are my preferences?', { topK: 1 }))).toEqual(['p1', 'p2']);
    expect(ids(await ask('What are my preferences?', { topK: 0 }))).toEqual([]);
    await retriever.close();
    open({ maxTokens: 9 });
    const preferences = ['I like to drink green tea.', 'I prefer dark mode.'];
    await retriever.addMemories(preferences.map((text, i) => memory(`p${i + 1}`, text, { preference: true })));
    expect(ids(await ask('my preferences'))).toEqual(['p1']);
  });

  test('the response of the design document has the whole file as one result', async () => {
    expect(await retriever.search('我的偏好是什么', { userId: 'ann', topK: 5, maxTokens: 4 })).toEqual({
      results: [
        {
          chunkId: 'user/preferences.md',
          uri: 'user/preferences.md',
          content: 'I like to drink green tea.\nI prefer dark mode.',
          score: 1,
          memoryType: 'preference',
          section: '',
          reinforcement: 4,
          tokenCount: 10,
        },
      ],
      totalTokens: 10,
      budgetRemaining: 0,
    });
  });

  test('a file of another scope, or a missing one, is skipped', async () => {
    expect((await ask('Which pattern is it?')).details).toMatchObject({ path: 'hybrid' });
    const search = (query: string, scope: 'project' | 'global') =>
      retriever.search(query, { userId: 'ann', topK: 5, scope, now });
    const project = await search('Which task follows the decision?', 'project');
    expect(project.results.map(({ uri }) => uri)).toEqual(['TASKS.md']);
    const global = await search('Which task is next?', 'global');
    expect(global.results.map(({ chunkId }) => chunkId).sort()).toEqual(['m1', 'p1', 'p2']);
  });

  test('a file without entries does not exist', async () => {
    expect(await retriever.removeMemory('t1', 'ann')).toBe(true);
    expect((await ask('Which task is next?')).details).toMatchObject({ path: 'hybrid' });
  });
});

describe('the timeline path', () => {
  test('reads the journal of seven days, the newest day first, and nothing else', async () => {
    const at = (createdAt: string) => ({ createdAt });
    await retriever.addMemories([
      memory('old', 'I said this recently, a month ago.', at('2026-05-01T09:00:00Z')),
      memory('late', 'The eighth day.', at('2026-05-25T23:59:00Z')),
      memory('seventh', 'The seventh day.', at('2026-05-26T00:00:00Z')),
      memory('a', 'Yesterday, first.', at('2026-05-31T08:00:00Z')),
      memory('b', 'Yesterday, then.', { ...at('2026-05-31T09:00:00Z'), preference: true }),
      memory('c', 'Today.', at('2026-06-01T09:00:00Z')),
      memory('future', 'Tomorrow.', at('2026-06-02T09:00:00Z')),
      memory('mended', 'Mended today.', { createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-06-01T10:00:00Z' }),
    ]);
    const retrieval = await ask('What did I say recently?');
    expect(ids(retrieval)).toEqual(['c', 'mended', 'a', 'b', 'seventh']);
    const files = ['06-01', '05-31', '05-26'].map((day) => `journal/2026-${day}.md`);
    expect(retrieval).toMatchObject({ details: { path: 'timeline', files }, timingsMs: { embedding: 0 } });
    // Nothing of the last seven days: a search after all.
    expect((await ask('最近怎么样', { now: new Date('2027-06-01T00:00:00Z') })).details['path']).toBe('hybrid');
  });
});

describe('hybrid search', () => {
  test('finds by words what no vector finds, in Chinese too', async () => {
    await retriever.addMemories([
      ...Array.from({ length: 60 }, (_, index) => memory(`m${index}`, `My box ${index} is in Oslo.`)),
      memory('code', 'The locker opens with KX-2041.'),
      memory('zh', '我姐姐的猫叫墨团。'),
    ]);
    expect(ids(await ask('What is it with KX-2041?'))[0]).toBe('code');
    expect(ids(await ask('猫叫什么？'))[0]).toBe('zh');
  });

  test('recent or repeated memories rank above equally near ones', async () => {
    await retriever.addMemories([
      memory('old', 'I like to drink tea: so I say.'),
      memory('often', 'I like to drink tea; so I say.', { reinforcement: 9 }),
      memory('new', 'I like to drink tea, so I say.', { createdAt: '2026-05-31T00:00:00Z' }),
    ]);
    expect(ids(await ask('What do I like to drink?'))).toEqual(['new', 'often', 'old']);
  });

  test('uses the given rule', async () => {
    const weights = { semantic: 0, reinforcement: 1, recency: 0, access: 0 };
    await retriever.close();
    open({ rule: { weights, halfLifeDays: 1 } });
    await retriever.addMemories([memory('tea', 'I drink tea.'), memory('cat', 'My cat sleeps.', { reinforcement: 2 })]);
    const { memories } = await ask('What do I drink?');
    expect(memories.map(({ memoryId }) => memoryId)).toEqual(['cat', 'tea']);
    expect(memories[0]!.score).toBeCloseTo(Math.log(3) / Math.log(4), 12);
  });

  test('a repeated statement is one entry, with higher reinforcement and the time of the last mention', async () => {
    const at = (createdAt: string, more = {}) => ({ createdAt, ...more });
    await retriever.addMemories([
      memory('again', 'I drink  TEA!', at('2026-05-31T00:00:00Z')),
      memory('first', 'I drink tea.', at('2026-01-01T00:00:00Z', { reinforcement: 2 })),
      memory('other', 'I drink tea?', at('2026-01-01T00:00:00Z')),
      memory('project', 'I drink tea.', at('2026-01-01T00:00:00Z', { scope: 'project' })),
    ]);
    await retriever.addMemories([memory('later', 'I drink tea', at('2026-02-01T00:00:00Z'))]);
    const reinforcements = async () => {
      const { results } = await retriever.search('tea', { userId: 'ann', topK: 5, now });
      return new Map(results.map(({ chunkId, reinforcement }) => [chunkId, reinforcement]));
    };
    expect(Object.fromEntries(await reinforcements())).toEqual({ first: 4, project: 1, other: 1 });
    expect(ids(await ask('What did I say recently?'))).toEqual(['first']);
    expect(retriever.stats()).toMatchObject({ memories: 5, entries: 3 });
    // The next mention takes the place of the first; the last takes the entry with it.
    expect(await retriever.removeMemory('first', 'ann')).toBe(true);
    expect((await reinforcements()).get('later')).toBe(2);
    expect(await retriever.removeMemory('again', 'ann')).toBe(true);
    expect(await retriever.removeMemory('later', 'ann')).toBe(true);
    expect([...(await reinforcements()).keys()].sort()).toEqual(['other', 'project']);
    expect(await retriever.removeMemory('later', 'ann')).toBe(false);
  });

  test('returned entries count as accessed, until a reset', async () => {
    await retriever.addMemories(['sister', 'brother', 'uncle'].map((who) => memory(who, `My ${who} likes tea.`)));
    const scores = async () => (await ask('My sister likes tea.', { topK: 2 })).memories.map(({ score }) => score);
    const first = await scores();
    // Two returned once each: ln 2 / ln 3 of the weight 0.1 more; then twice each: ln 3 / ln 4.
    expect((await scores())[0]! - first[0]!).toBeCloseTo((0.1 * Math.log(2)) / Math.log(3), 6);
    expect((await scores())[0]! - first[0]!).toBeCloseTo((0.1 * Math.log(3)) / Math.log(4), 6);
    await retriever.reset();
    expect((await scores())[0]).toBeCloseTo(first[0]!, 6);
  });

  test('the budget is counted in tokens, 0 among them, and topK and threshold hold', async () => {
    await retriever.addMemories([memory('a', 'My cat likes tea.'), memory('b', 'My dog likes tea.')]);
    const search = (maxTokens: number) => retriever.search('tea', { userId: 'ann', topK: 5, maxTokens, now });
    expect(await search(0)).toEqual({ results: [], totalTokens: 0, budgetRemaining: 0 });
    expect(await search(7)).toMatchObject({ results: [{ tokenCount: 4 }], totalTokens: 4, budgetRemaining: 3 });
    expect((await search(8)).results).toHaveLength(2);
    expect(ids(await ask('tea', { topK: 1 }))).toHaveLength(1);
    expect(ids(await ask('tea', { threshold: 1 }))).toEqual([]);
  });

  test('a user sees nothing of another, whose words do not affect the ranking either', async () => {
    await retriever.addMemories([memory('a', 'My cat likes tea.'), memory('b', 'My dog likes milk.')]);
    const alone = (await ask('Who likes tea?')).memories;
    await retriever.reset();
    const ofBob = { userId: 'bob', content: 'tea tea tea' };
    await retriever.addMemories(Array.from({ length: 200 }, (_, i) => ({ memoryId: `o${i}`, ...ofBob })));
    expect((await ask('Who likes tea?')).memories).toEqual(alone);
  });

  test('a memory that is removed while the query is embedded is not returned', async () => {
    await retriever.addMemories([memory('a', 'My cat likes tea.')]);
    const asked = ask('tea');
    await retriever.removeMemory('a', 'ann');
    expect(ids(await asked)).toEqual([]);
    expect(retriever.stats()).toMatchObject({ memories: 0, answers: { hybrid: 1 } });
  });

  test.each([
    [{ reinforcement: 'often' }, "memory 'x': reinforcement expected a number from 0"],
    [{ createdAt: 'yesterday' }, "memory 'x': createdAt expected a time"],
    [{ scope: 'mine' }, "memory 'x': scope expected global or project"],
    [{ uri: 7 }, "memory 'x': uri expected a text"],
  ])('metadata that cannot be read are named: %j', async (metadata, message) => {
    await expect(retriever.addMemories([memory('y', 'Fine.'), memory('x', 'Not.', metadata)])).rejects.toThrow(message);
    expect(retriever.stats()).toMatchObject({ memories: 0 });
  });
});

test('a budget ends at the first item that does not fit, though a later one would', () => {
  const items = [600, 500, 600, 100].map((tokenCount) => ({ tokenCount }));
  const two = { results: items.slice(0, 2), totalTokens: 1_100, budgetRemaining: 400 };
  expect(withinBudget(items, 1_500)).toEqual(two);
  expect(withinBudget(items, 1_700)).toMatchObject({ totalTokens: 1_700, budgetRemaining: 0 });
});
