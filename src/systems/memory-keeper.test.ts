import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openKeeper } from '../../scripts/open-parts.ts';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import type { EmbeddingService } from '../models/embedding/embedding-service.ts';
import { formatHistorySummary } from '../retrieval/format-history-summary.ts';
import type { Retriever } from '../retrieval/retriever.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import { memories } from '../store/schema.ts';
import { MemoryKeeper } from './memory-keeper.ts';
import { chronological } from './prompt/memory-lines.ts';

const folder = folderOfEachTest();

let database: BenchDatabase;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
});
afterEach(() => database.close());

const everything = { topK: 20, threshold: -1, userId: 'ann' };

it('a memory gets a creation time unless it has one, also when it is loaded from the database', async () => {
  const before = Date.now();
  const keeper = openKeeper(database);
  const createdAt = '2020-05-01T12:00:00.000Z';
  await keeper.add('s', 'My dog is called Brenko.', { userId: 'ann', metadata: { value: 'Brenko' } });
  await keeper.add('s', 'I live in Port Dral.', { userId: 'ann', metadata: { createdAt } });
  const after = Date.now();
  await sleep(5);
  const loaded = openKeeper(database);
  expect(await loaded.load('s')).toBe(2);
  const [old, young] = chronological((await loaded.retrieveStored('dog', everything)).memories);
  expect(old!.metadata).toMatchObject({ createdAt });
  expect(young!.metadata).toMatchObject({ value: 'Brenko' });
  const instant = Date.parse(young!.metadata['createdAt'] as string);
  expect([instant >= before, instant <= after]).toEqual([true, true]);
  for (const found of [(await keeper.retrieveStored('dog', everything)).memories, keeper.all('ann')]) {
    const times = chronological(found).map(({ metadata }) => metadata['createdAt']);
    expect(times).toEqual([createdAt, young!.metadata['createdAt']]);
  }
  const rows = database.query.select().from(memories).all();
  expect(rows.map((row) => row.createdAt)).toEqual([instant, Date.parse(createdAt)]);
});

it('uses the time of the row for a memory of an older version, which stored none', async () => {
  await openKeeper(database).add('s', 'My dog is called Brenko.', { userId: 'ann', memoryId: 'dog' });
  database.query.update(memories).set({ metadata: null, createdAt: 1_000 }).run();
  const loaded = openKeeper(database);
  await loaded.load('s');
  const [found] = (await loaded.retrieveStored('dog', everything)).memories;
  expect(found!.metadata).toMatchObject({ createdAt: '1970-01-01T00:00:01.000Z' });
});

it('orders memories of one millisecond by insertion', async () => {
  const keeper = openKeeper(database);
  const createdAt = '2020-05-01T12:00:00.000Z';
  const contents = Array.from({ length: 12 }, (_, index) => `Fact ${index}.`);
  for (const content of contents) await keeper.add('s', content, { userId: 'ann', metadata: { createdAt } });
  const { memories: found } = await keeper.retrieveStored('fact', everything);
  expect(chronological(found).map(({ content }) => content)).toEqual(contents);
});

it('returns memories and summary as another process has left them', async () => {
  using own = openDatabase({ path: folder.file('memories.sqlite') });
  using others = openDatabase({ path: folder.file('memories.sqlite') });
  const records = ['gone', 'moved', 'kept'].map((memoryId) => ({
    memoryId,
    content: `${memoryId}.`,
    score: 0.5,
    metadata: {},
  }));
  const indexed: string[] = [];
  const retriever: Partial<Retriever> = {
    addMemories: async (added) => indexed.push(...added.map(({ content }) => content)),
    removeMemory: async () => true,
    retrieve: async () => ({
      ...{ strategy: 'tiered', timingsMs: { embedding: 0, search: 0, ranking: 0 }, flags: [], details: {} },
      memories: records,
      summary: { text: formatHistorySummary(records), records },
    }),
  };
  const embedMany = async (texts: readonly string[]) => texts.map(() => new Float32Array(2));
  const parts = { retriever: retriever as Retriever, embeddings: { embedMany } as unknown as EmbeddingService };
  const [keeper, other] = [own, others].map((each) => new MemoryKeeper({ ...parts, database: each }));
  for (const { memoryId, content } of records) await keeper!.add('s', content, { userId: 'ann', memoryId });
  await other!.remove('s', 'gone', 'ann');
  await other!.add('s', 'Now in Dral.', { userId: 'ann', memoryId: 'moved' });
  indexed.length = 0;
  const left = [
    { memoryId: 'moved', content: 'Now in Dral.' },
    { memoryId: 'kept', content: 'kept.' },
  ];
  expect(await keeper!.retrieveStored('Who?', everything)).toMatchObject({
    memories: left,
    outdated: ['gone', 'moved'],
    summary: { text: formatHistorySummary(records.slice(1)).replace('moved.', 'Now in Dral.'), records: left },
  });
  expect(indexed).toEqual(['Now in Dral.']);
});
