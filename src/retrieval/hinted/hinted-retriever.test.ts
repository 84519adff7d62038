import { afterEach, expect, test } from 'vitest';
import { presetModels } from '../../models/default-models.ts';
import { realEngine } from '../../../test/fixtures/engines.ts';
import type { NewMemory, Retrieval, RetrieveOptions } from '../retriever.ts';
import { openQueryModel } from './engine-query-model.ts';
import { HintedRetriever } from './hinted-retriever.ts';
import { readPreRetrievalConfig } from './pre-retrieval/pre-retrieval-config.ts';
import type { QueryModel } from './pre-retrieval/pre-retrieval-types.ts';
import { backend, embeddings } from '../../../test/fixtures/shipped-embedder.ts';

let retriever: HintedRetriever;
function open(config: unknown = {}, model?: QueryModel): HintedRetriever {
  retriever = new HintedRetriever(embeddings, { backend, ...readPreRetrievalConfig(config, 'test'), model });
  return retriever;
}
afterEach(() => retriever.close());

/** The `day`-th memory. */
function memory(day: number, content: string, metadata: Readonly<Record<string, unknown>> = {}): NewMemory {
  const createdAt = new Date(Date.UTC(2026, 0, day)).toISOString();
  return { memoryId: `m${day}`, userId: 'ann', content, metadata: { createdAt, ...metadata } };
}

const options: RetrieveOptions = { userId: 'ann', topK: 5, threshold: -1 };
const ask = (query: string, given: Partial<RetrieveOptions> = {}): Promise<Retrieval> =>
  retriever.retrieve(query, { ...options, ...given });
const ids = ({ memories }: { readonly memories: readonly { readonly memoryId: string }[] }): string[] =>
  memories.map(({ memoryId }) => memoryId);

const deepSearch = (search_depth: number) => ({
  action: 'route',
  keyword_rules: [{ keywords: ['sister', '记得'], strategy: 'deep_search', params: { search_depth } }],
});

/** Scores of memories by id, best first, of a search that follows so many links. */
async function deepScores(chain: readonly NewMemory[], depth: number, question: string): Promise<Map<string, number>> {
  await open(deepSearch(depth)).addMemories(chain);
  const { memories } = await ask(question, { topK: 30 });
  await retriever.close();
  return new Map(memories.map(({ memoryId, score }) => [memoryId, score]));
}

/** One about Oslo among the old, one among the recent, and the rest about boxes. */
const lived = [
  memory(1, 'I live in Oslo.'),
  ...Array.from({ length: 60 }, (_, index) => memory(index + 2, `My box number ${index} is red.`)),
  memory(70, 'I am staying in room 12.'),
];

test('searches all memories by meaning by default', async () => {
  await open().addMemories(lived);
  const retrieval = await ask('Where do I live?');
  expect(ids(retrieval)[0]).toBe('m1');
  expect(retrieval.memories).toHaveLength(5);
  expect(retrieval.flags).toEqual([]);
  expect(retrieval.details).toMatchObject({
    hints: { strategies: ['semantic_search'], route_strategy: 'keyword', params: {} },
    tiers: ['short', 'mid', 'long', 'persona'],
    linked: 0,
  });
});

test('temporal_search takes the newest ten and no other', async () => {
  await open().addMemories(lived);
  const retrieval = await ask('I mentioned it recently: where do I live?', { topK: 50 });
  expect(ids(retrieval).sort()).toEqual(['m53', 'm54', 'm55', 'm56', 'm57', 'm58', 'm59', 'm60', 'm61', 'm70']);
  expect(retrieval.details['tiers']).toEqual(['short']);
  const strategies = { temporal_search: 1 };
  expect(retriever.stats()).toMatchObject({ memories: 62, namespaces: 1, strategies });
});

test('persona_search reads the persona, of any age', async () => {
  await open().addMemories([
    ...lived,
    memory(3, 'I love to eat sushi.', { preference: true }),
    memory(80, 'I am patient.', { memory_type: 'persona' }),
  ]);
  expect(ids(await ask('What are my traits?')).sort()).toEqual(['m3', 'm80']);
});

test('deep_search follows a name from memory to memory, up to search_depth', async () => {
  const chain = [
    memory(101, 'My sister is called Brenko.'),
    memory(102, 'The boss of Brenko is Plevath.'),
    memory(103, 'The office of Plevath is in Oslo.'),
    memory(104, 'My cat is called Miso.'),
  ];
  const question = 'What is my sister called?';
  const [near, far] = [await deepScores(chain, 0, question), await deepScores(chain, 2, question)];
  expect([...near.keys()].slice(0, 2)).toEqual(['m101', 'm104']);
  expect([...far.keys()].slice(0, 2)).toEqual(['m101', 'm102']);
  // Two links: the boss gets 0.8 of what the sister has, and both hand on 0.8 of that; 1 + 0.8 + 0.64 is the most.
  const [sister, boss, office] = ['m101', 'm102', 'm103'].map((id) => near.get(id)!);
  const raised = boss! + 0.8 * sister!;
  const expected = [sister! + 0.8 * raised, raised, office! + 0.8 * raised].map((score) => score / 2.44);
  expect(['m101', 'm102', 'm103'].map((id) => far.get(id))).toEqual(
    expected.map((score): unknown => expect.closeTo(score, 5)),
  );
  const linked = memory(105, 'My sister is allergic to nuts.', { links: ['m104', 'gone'] });
  await open(deepSearch(1)).addMemories([...chain, linked]);
  const beside = await ask('What is my sister allergic to?', { topK: 2 });
  expect([ids(beside), beside.details['linked']]).toEqual([['m105', 'm104'], 1]);
});

test('a name links Chinese memories too, wherever it is introduced', async () => {
  const chain = [
    memory(1, '赵立新的办公室在奥斯陆。'),
    memory(2, '陈晓梅的老板是赵立新。'),
    memory(3, '我姐姐叫陈晓梅。'),
    memory(4, '我的公司在Plevath路。'),
    memory(5, '去Plevath路要坐地铁。'),
    ...Array.from({ length: 20 }, (_, index) => memory(index + 10, `第${index}个盒子是红色的。`)),
  ];
  const scores = (depth: number, question: string) => deepScores(chain, depth, question);
  const question = '你记得我姐姐叫什么吗？';
  const [near, linked] = [await scores(0, question), await scores(1, question)];
  // One link: a share of the best neighbour, here with a name in two memories each; 1.8 is the most.
  const best = Math.max(near.get('m1')!, near.get('m3')!);
  expect(linked.get('m2')).toBeCloseTo((near.get('m2')! + 0.8 * best) / 1.8, 5);
  expect(linked.get('m10')).toBeCloseTo(near.get('m10')! / 1.8, 5);
  const company = '你记得我的公司在哪里吗？';
  const [apart, beside] = [await scores(0, company), await scores(1, company)];
  expect(beside.get('m5')).toBeCloseTo((apart.get('m5')! + 0.8 * apart.get('m4')!) / 1.8, 5);
});

test('of memories with similar scores, the preferred tier comes first', async () => {
  const rule = { keywords: ['tea'], strategy: 'long_term', params: { tier_preference: 'ltm', expand_links: false } };
  const same = Array.from({ length: 61 }, (_, index) => memory(index + 1, 'I like tea.'));
  const newest = { ...rule, params: { tier_preference: 'stm' } };
  for (const [preferring, first] of [[rule, 'm1'] as const, [newest, 'm52'] as const]) {
    await open({ keyword_rules: [preferring] }).addMemories(same);
    expect(ids(await ask('tea', { topK: 1 }))).toEqual([first]);
    await retriever.close();
  }
});

test('memories of an excluded persona do not displace others', async () => {
  const rule = { keywords: ['drink'], strategy: 'any', params: { include_persona: false } };
  const drinks = ['tea', 'milk', 'cocoa', 'water', 'juice'];
  await open({ keyword_rules: [rule] }).addMemories([
    ...drinks.map((drink, day) => memory(day + 1, `I like to drink ${drink}.`, { preference: true })),
    memory(6, 'My box is red.'),
  ]);
  expect(ids(await ask('What do I like to drink?'))).toEqual(['m6']);
});

test('both parts of a question are answered', async () => {
  await open().addMemories(lived);
  const retrieval = await ask('Where do I live? Which room am I staying in?', { topK: 2 });
  expect(ids(retrieval).sort()).toEqual(['m1', 'm70']);
  expect(retrieval.details).toMatchObject({ parts: 2, vectors: 3 });
});

test('an invalid question retrieves nothing, and is flagged', async () => {
  await open().addMemories(lived);
  const flags = [{ flag: 'failed', reason: 'the question is empty' }];
  expect(await ask(' \u0007 ')).toMatchObject({ memories: [], flags });
});

test('a record of the design document is returned with memory_data', async () => {
  await open().addMemories(lived);
  const query_embedding = await embeddings.embed('Where do I live?');
  const retrieval_hints = { strategies: [], route_strategy: 'llm' as const, params: {} };
  const old = { question: 'Where do I live?', retrieval_routes: ['temporal_search'] };
  const found = await retriever.execute({ ...old, question: 'anything', query_embedding, retrieval_hints }, options);
  const memory_data = [{ memoryId: 'm1' }, {}, {}, {}, {}];
  expect(found).toMatchObject({ question: 'anything', retrieval_hints, memory_data });
  expect((await retriever.execute(old, { ...options, topK: 50 })).memory_data).toHaveLength(10);
});

test.each([
  [{ createdAt: 'once' }, "memory 'm9': createdAt expected a time"],
  [{ links: 'm1' }, "memory 'm9': links expected a list of ids"],
])('unreadable metadata are refused: %j', async (metadata, message) => {
  open();
  await expect(retriever.addMemories([memory(8, 'Fine.'), memory(9, 'Not.', metadata)])).rejects.toThrow(message);
  expect(retriever.stats()).toMatchObject({ memories: 0 });
});

test('the model that ships cannot route: the default strategy is used, and the fallback counted', async () => {
  await using engine = await realEngine.open({ model: presetModels.model });
  open({ route_strategy: 'llm' }, await openQueryModel(engine));
  await retriever.addMemories(lived);
  const { flags, details, memories } = await ask('What did I say yesterday?');
  expect(details).toMatchObject({ hints: { strategies: ['semantic_search'], route_strategy: 'llm' } });
  const reason = /^recall-base cannot route questions: \d+ % of 56 right, by chance 25 %$/;
  expect(flags).toEqual([{ flag: 'fallback', reason: expect.stringMatching(reason) as string }]);
  expect(memories).toHaveLength(5);
  await ask('Where do I live?');
  expect(retriever.stats()).toMatchObject({ fallbacks: 2 });
  await retriever.close();
  // Its session is free again.
  await using _session = await engine.openSession('test');
});
