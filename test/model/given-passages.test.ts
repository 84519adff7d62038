import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/compose.ts';
import { openDatabase } from '../../src/store/database.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import type { RunResults } from '../../src/store/records/results.ts';
import { failedChecks, smallConfig } from './bench-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const colours = ['red', 'blue', 'green', 'white', 'black', 'brown'];
const users = ['ann', 'bob'];
const thingOf = (userId: string): string => (userId === 'ann' ? 'box' : 'bag');

const memoriesOf = (userId: string): object[] =>
  colours.map((colour, index) => ({
    ...{
      type: 'memory',
      userId,
      memoryId: `${userId}-m${index}`,
      content: `My ${thingOf(userId)} number ${index} is ${colour}.`,
    },
    ...{ createdAt: `2026-01-0${index + 1}T00:00:00Z`, value: colour },
  }));
const item = (userId: string, number: number, more: object): object => ({
  ...{
    type: 'item',
    userId,
    itemId: `${userId}-q${number}`,
    query: `What colour is my ${thingOf(userId)} number ${number}?`,
  },
  ...{ answer: colours[number], evidence: [`${userId}-m${number}`], askedAt: '2026-02-01T00:00:00Z', ...more },
});
const listed = (userId: string, ...numbers: number[]) => ({ passages: numbers.map((n) => `${userId}-m${n}`) });

const folder = temporaryFolder();
beforeAll(() => {
  const itemsOf = (userId: string, lists: (...numbers: number[]) => object): object[] => [
    item(userId, 0, lists(4, 0, 2, 5, 1)),
    item(userId, 1, lists(3)),
    item(userId, 2, lists()),
  ];
  const lines = (lists: (userId: string) => (...numbers: number[]) => object): string =>
    users
      .flatMap((userId) => [...memoriesOf(userId), ...itemsOf(userId, lists(userId))])
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('');
  writeFileSync(
    folder.file('listed.jsonl'),
    lines(
      (userId) =>
        (...numbers) =>
          listed(userId, ...numbers),
    ),
  );
  writeFileSync(
    folder.file('bare.jsonl'),
    lines(
      (userId) =>
        (...numbers) =>
          userId === 'bob' ? {} : listed(userId, ...numbers),
    ),
  );
});

const given = (flags: Readonly<Record<string, unknown>>) =>
  runBench(smallConfig(folder, { dataset: './listed.jsonl', retriever: 'given', ...flags }));

describe('a retrieval of the user’s own', () => {
  const arms = ['none', 'rag', 'dki', 'dki-blocks', 'dki-wrong'];
  let results: RunResults;
  beforeAll(async () => {
    [results] = (await given({ run: 'own', topK: '3', placement: 'rank', arms: arms.join(',') })) as [RunResults];
  });

  it('reaches every arm that retrieves, in its order, cut by --top-k', () => {
    using database = openDatabase({ path: smallConfig(folder).db });
    const seen = (arm: string) =>
      [...new TurnRepository(database).listByRun(results.run.id, { arm })].map((turn) =>
        turn.state === 'answered' ? turn.given.retrieved.map(({ memoryId }) => memoryId) : turn.state,
      );
    const lists = users.flatMap((user) => [[`${user}-m4`, `${user}-m0`, `${user}-m2`], [`${user}-m3`], []]);
    for (const arm of ['rag', 'dki', 'dki-blocks']) expect(seen(arm), arm).toEqual(lists);
    expect(seen('none')).toEqual(lists.map(() => []));
    expect(seen('dki-wrong').map((ids) => ids.length)).toEqual(lists.map((ids) => ids.length));
  });

  it('is recorded with the run, whose checks hold, and leaves isolation decided', () => {
    expect(results.run.retriever.name).toBe('given');
    expect(results.run.settings).toMatchObject({ retriever: 'given', topK: 3 });
    expect(failedChecks(results)).toEqual([]);
  });
});

describe('a data set that lists no passages', () => {
  it('is refused at the first item without them, with their number', async () => {
    await expect(given({ dataset: './bare.jsonl' })).rejects.toMatchObject({
      code: 'bad-data',
      message: `${folder.file('bare.jsonl')}:16: passages expected for --retriever given, got nothing (3 of 6 items list none)`,
    });
  });

  it('is refused where a suite makes it, before anything is made', async () => {
    await expect(given({ suite: 'main,context,scaling', dataset: undefined })).rejects.toMatchObject({
      code: 'bad-option',
      message: '--retriever given: data that suites make for themselves list no passages (context, scaling)',
    });
  });
});
