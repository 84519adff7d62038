import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { BenchHooks } from '../../src/eval/run/bench-hooks.ts';
import { latencyTable } from '../../src/report/topics/times.ts';
import { item, memory, writeLines } from '../fixtures/dataset-lines.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { failedChecks, passedChecks, smallConfig } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const colours = ['red', 'blue', 'green', 'white', 'black', 'brown'];
/** Numbers of the passages of each question: two recur, and are the newest. */
const listed = ['450', '451', '542', '354'];

/** Two users with the same retrievals: counts that they shared would change the order for the second one. */
const dataset = ['ann', 'bob'].flatMap((userId) => [
  ...colours.map((value, index) =>
    memory(`${userId}-${index}`, {
      ...{ userId, value, content: `My box number ${index} is ${value}.` },
      createdAt: `2026-03-0${index + 1}T09:00:00Z`,
    }),
  ),
  ...listed.map((numbers, index) =>
    item(`${userId}-q${index}`, {
      ...{ userId, query: `What colour is my box number ${numbers[0]}?`, answer: colours[Number(numbers[0])] },
      evidence: [`${userId}-${numbers[0]}`],
      passages: [...numbers].map((number) => `${userId}-${number}`),
    }),
  ),
]);

const folder = temporaryFolder();
const arms = ['rag', 'rag-cached', ...['rag', 'rag-cached', 'dki', 'dki-blocks'].map((arm) => `${arm}@order=stable`)];
const config = (run: string, flags: Readonly<Record<string, unknown>> = {}) =>
  smallConfig(folder, {
    ...{ dataset: writeLines(folder, dataset), retriever: 'given', topK: '3', limit: '8', run },
    ...{ arms: arms.join(), kvStore: folder.file(`store-${run}`), ...flags },
  });
const orders = (run: string, arm: string) =>
  answeredTurns(smallConfig(folder), run, arm).map(({ facts, repeat }) => [
    repeat,
    facts.memoryIds.map((id) => id.at(-1)).join(''),
  ]);

it('a run shows each user what came most often first, in each repeat, and its checks know', async () => {
  const [results] = await runBench(config('stable', { repeats: '2' }));
  const expected = [0, 1].flatMap((repeat) => ['450', '451', '452', '453'].map((order) => [repeat, order]));
  for (const arm of arms.slice(2)) expect(orders('stable', arm), arm).toEqual([...expected, ...expected]);
  expect(orders('stable', 'rag')[0]).toEqual([0, '045']);
  expect(failedChecks(results!)).toEqual([]);
  expect(passedChecks(results!)).toEqual(expect.arrayContaining(['reuse', 'same memories', 'token identity']));
  const evaluated = (arm: string) => results!.arms.find((one) => one.arm === arm)!.costAll!.tokens.evaluated;
  expect(evaluated('rag-cached@order=stable')).toBeLessThan(evaluated('rag-cached') - 10);
  expect(latencyTable(results!).rows.map(({ label }) => label)).toContain('rag-cached@order=stable');
});

it('a resumed run counts for an unfinished user from the first question on', async () => {
  const breaking: BenchHooks = {
    onProgress: ({ phase, done }) => {
      if (phase === 'turns' && done === 15) throw new Error('the display broke');
    },
  };
  await expect(runBench(config('broken'), breaking)).rejects.toThrow('the display broke');
  const [results] = await runBench(smallConfig(folder, { resume: 'broken', kvStore: folder.file('store-broken') }));
  const expected = ['450', '451', '452', '453'].map((order) => [0, order]);
  expect(orders('broken', 'rag-cached@order=stable')).toEqual([...expected, ...expected]);
  expect(failedChecks(results!)).toEqual([]);
});
