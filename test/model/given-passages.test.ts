import { beforeAll, describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { errorLike } from '../fixtures/error-like.ts';
import { item, memory, writeLines } from '../fixtures/dataset-lines.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { failedChecks, smallConfig } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const colours = ['red', 'blue', 'green', 'white', 'black', 'brown'];
const things = { ann: 'box', bob: 'bag' };
const users = ['ann', 'bob'] as const;
/** Passages of each question. */
const listed = [[4, 0, 2, 5, 1], [3], []];

/** Six memories of each user and a question on each of the first three. @param lists users whose questions list passages */
const dataset = (lists: readonly string[]): object[] =>
  users.flatMap((userId) => [
    ...colours.map((colour, index) => {
      const content = `My ${things[userId]} number ${index} is ${colour}.`;
      return memory(`${userId}-m${index}`, { userId, content, value: colour });
    }),
    ...listed.map((numbers, index) =>
      item(`${userId}-q${index}`, {
        userId,
        query: `What colour is my ${things[userId]} number ${index}?`,
        answer: colours[index],
        evidence: [`${userId}-m${index}`],
        ...(lists.includes(userId) ? { passages: numbers.map((number) => `${userId}-m${number}`) } : {}),
      }),
    ),
  ]);

const folder = temporaryFolder();

const given = (data: object[], flags: Readonly<Record<string, unknown>> = {}) =>
  runBench(smallConfig(folder, { dataset: writeLines(folder, data), retriever: 'given', ...flags }));

describe('a retrieval of the user’s own', () => {
  const arms = ['none', 'rag', 'dki', 'dki-blocks', 'dki-wrong'];
  let results: RunResults;
  beforeAll(async () => {
    const flags = { run: 'own', topK: '3', placement: 'rank', arms: arms.join(',') };
    [results] = (await given(dataset(users), flags)) as [RunResults];
  });

  it('reaches every arm that retrieves, in its order, cut by --top-k', () => {
    const seen = (arm: string) =>
      answeredTurns(smallConfig(folder), 'own', arm).map((turn) =>
        turn.given.retrieved.map(({ memoryId }) => memoryId),
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
    const why = /data-\d+\.jsonl:16: passages expected for --retriever given, got nothing \(3 of 6 items list none\)$/;
    await expect(given(dataset(['ann']))).rejects.toMatchObject(errorLike('bad-data', why));
  });

  it('is refused where a suite makes it, before anything is made', async () => {
    await expect(given([], { suite: 'main,context,scaling', dataset: undefined })).rejects.toMatchObject({
      code: 'bad-option',
      message: '--retriever given: the generated data of context, scaling lists no passages',
    });
  });
});
