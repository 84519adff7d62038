import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { reportTables } from '../../src/report/report-contents.ts';
import { renderMarkdown } from '../../src/render/table-markdown.ts';
import { ChatServer, honestJudge, judgedData } from '../fixtures/chat-server.ts';
import { item, memory, writeLines } from '../fixtures/dataset-lines.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { failedChecks, smallConfig } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const folder = temporaryFolder();

const run = async (flags: Readonly<Record<string, unknown>>): Promise<RunResults> =>
  (await runBench(smallConfig(folder, flags)))[0]!;

it('points of an answer are graded by the judge, found by their words, and scored by their likelihood', async () => {
  await using server = await ChatServer.start((content) => {
    const { point, answer } = judgedData(content);
    if (point === undefined) return honestJudge(content);
    // Planted points are those with more than one word.
    if (!point.includes(' ')) return point === 'red' ? 'partly' : 'no';
    return /never|Water/.test(answer) ? 'no' : 'yes';
  });
  const content = 'My box is red and my bag is blue.';
  const data = [
    memory('m1', { userId: 'ann', content }),
    item('q1', {
      userId: 'ann',
      query: 'What colour is my box?',
      answer: 'red',
      nuggets: ['red', 'blue'],
      evidence: ['m1'],
    }),
    item('q2', { userId: 'ann', query: 'What colour is my bag?', answer: 'blue', evidence: ['m1'] }),
  ];
  const flags = { dataset: writeLines(folder, data), arms: 'rag,dki', run: 'points' };
  const results = await run({ ...flags, judge: server.address, judgeModel: 'm' });
  expect(failedChecks(results)).toEqual([]);
  const { evidence } = results.checks.find(({ check }) => check === 'metrics')!;
  expect(evidence).toContain('grades 4 of 6 planted points as they are');
  // Metrics of golds are tried on the one gold without points, which is too few.
  expect(evidence).not.toContain('data set');
  const [rag] = results.arms;
  expect(rag!.metrics.rubric).toMatchObject({ mean: 0.25, n: 1 });
  expect([rag!.metrics.contains!.n, rag!.metrics['judge']!.n]).toEqual([1, 1]);
  const turns = answeredTurns(smallConfig(folder), 'points', 'rag');
  const [points, whole] = turns.map(({ observed }) => observed);
  // The first point is the gold, in the same place.
  expect(points!.nuggetLogProbabilities).toHaveLength(2);
  expect(points!.nuggetLogProbabilities![0]).toBeCloseTo(points!.goldLogProbability! / points!.goldTokens.length, 10);
  expect(points!.nuggetLogProbabilities![1]).not.toBe(points!.nuggetLogProbabilities![0]);
  expect(whole).not.toHaveProperty('nuggetLogProbabilities');
  const tables = [...reportTables(results).values()].map(renderMarkdown).join('\n');
  expect(tables).toMatch(/rubric \(%\)/);
  expect(tables).toMatch(/You grade one point of an answer/);
});

it('questions of one context are turns of one conversation, whose answers are history unless it is left out', async () => {
  const context = ['My box is red.', 'My bag is blue.', 'My hat is green.'].map((text) =>
    text.padEnd(700, ' It rains.'),
  );
  const turns = ['box', 'bag', 'hat'].map((thing, index) => ({
    input: `What colour is my ${thing}?`,
    answer: ['red', 'blue', 'green'][index],
  }));
  const dataFile = folder.file('contexts.jsonl');
  writeFileSync(dataFile, `${JSON.stringify({ context: context.join('\n\n'), multi_turns: turns })}\n`);
  const flags = { dataset: 'multi-turn', dataFile, arms: 'rag,dki', topK: '1' };
  const results = await run({ ...flags, run: 'turns' });
  expect(failedChecks(results)).toEqual([]);
  await run({ ...flags, run: 'requests', historyTurns: '0' });
  const histories = (name: string) =>
    answeredTurns(smallConfig(folder), name, 'dki').map(({ item: { condition }, prompt }) => [
      condition,
      prompt.historyMessages.length,
    ]);
  expect(histories('turns')).toEqual([
    [1, 0],
    [2, 2],
    [3, 4],
  ]);
  expect(histories('requests')).toEqual([
    [1, 0],
    [2, 0],
    [3, 0],
  ]);
});
