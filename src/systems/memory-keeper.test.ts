import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openKeeper } from '../../scripts/open-parts.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import { memories } from '../store/schema.ts';
import { chronological } from './prompt/memory-lines.ts';

let database: BenchDatabase;
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
});
afterEach(() => database.close());

const everything = { topK: 20, threshold: -1, userId: 'ann' };

it('a memory without a creation time gets it, one that names it keeps it, also when the database is loaded', async () => {
  const before = Date.now();
  const keeper = openKeeper(database);
  const createdAt = '2020-05-01T12:00:00.000Z';
  await keeper.add('s', 'My dog is called Brenko.', { userId: 'ann', metadata: { value: 'Brenko' } });
  await keeper.add('s', 'I live in Port Dral.', { userId: 'ann', metadata: { createdAt } });
  const after = Date.now();
  await sleep(5);
  const loaded = openKeeper(database);
  expect(await loaded.load('s')).toBe(2);
  const [old, young] = chronological(await loaded.search('dog', everything));
  expect(old!.metadata).toMatchObject({ createdAt });
  expect(young!.metadata).toMatchObject({ value: 'Brenko' });
  const instant = Date.parse(young!.metadata['createdAt'] as string);
  expect([instant >= before, instant <= after]).toEqual([true, true]);
  for (const found of [await keeper.search('dog', everything), keeper.all('ann')]) {
    const times = chronological(found).map(({ metadata }) => metadata['createdAt']);
    expect(times).toEqual([createdAt, young!.metadata['createdAt']]);
  }
  const rows = database.query.select().from(memories).all();
  expect(rows.map((row) => row.createdAt)).toEqual([instant, Date.parse(createdAt)]);
});

it('gives a memory the time of its row where an older program stored none', async () => {
  await openKeeper(database).add('s', 'My dog is called Brenko.', { userId: 'ann', memoryId: 'dog' });
  database.query.update(memories).set({ metadata: null, createdAt: 1_000 }).run();
  const loaded = openKeeper(database);
  await loaded.load('s');
  const [found] = await loaded.search('dog', everything);
  expect(found!.metadata).toMatchObject({ createdAt: '1970-01-01T00:00:01.000Z' });
});

it('orders memories of one millisecond as they were added', async () => {
  const keeper = openKeeper(database);
  const createdAt = '2020-05-01T12:00:00.000Z';
  const contents = Array.from({ length: 12 }, (_, index) => `Fact ${index}.`);
  for (const content of contents) await keeper.add('s', content, { userId: 'ann', metadata: { createdAt } });
  const found = await keeper.search('fact', everything);
  expect(chronological(found).map(({ content }) => content)).toEqual(contents);
});
