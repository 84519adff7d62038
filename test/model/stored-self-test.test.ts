import { writeFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import { smallDataset } from '../fixtures/small-run.ts';
import { folderOfEachTest } from '../fixtures/folder-of-each-test.ts';

const folder = folderOfEachTest();
afterEach(() => vi.unstubAllEnvs());

/** A run with the shipped model. @returns its notes on stored tests, tokens of checks, the order of phases and lines, and results */
async function run(flags: Readonly<Record<string, string>> = {}) {
  vi.stubEnv('DKI_BENCH_CACHE', folder.file('cache'));
  writeFileSync(folder.file('small.jsonl'), smallDataset());
  const heard: string[] = [];
  const given = { dataset: folder.file('small.jsonl'), arms: 'rag,dki', out: folder.path };
  const config = loadBenchConfig({ flags: { ...given, ...flags }, environment: {}, workingFolder: folder.path });
  const [results] = await runBench(config, {
    onProgress: ({ phase }) => heard.at(-1) !== phase && heard.push(phase),
    onEstimate: ({ turns }) => heard.push(`${turns} turns`),
    onNote: (note) => heard.push(note),
  });
  const { notes, profile } = results!.run;
  return {
    heard,
    stored: notes.filter((note) => note.includes('stored one of')),
    results: results!,
    checks: profile.evaluatedTokens!.checks,
  };
}

it('a second run takes the self-test of the first, says so, and decides the same; --fresh-self-test makes a new one', async () => {
  const first = await run();
  const second = await run();
  const fresh = await run({ freshSelfTest: 'true' });
  expect([first.stored, fresh.stored]).toEqual([[], []]);
  expect(second.stored).toEqual([
    expect.stringMatching(/^the self-test of the model is the stored one of \d{4}-\d\d-\d\d \d\d:\d\d UTC, /),
  ]);
  expect(second.heard).toContain(second.stored[0]);
  expect(second.checks).toBeLessThan(first.checks);
  expect(fresh.checks).toBe(first.checks);
  // The clock check depends on how busy the machine is.
  const decisions = ({ results }: typeof first) =>
    results.checks.flatMap(({ check, status }) => (check === 'clock' ? [] : [`${check} ${status}`]));
  expect(decisions(second)).toEqual(decisions(first));
});

it('a run tells its size before the self-test, and the result of the self-test before the first turn', async () => {
  const { heard } = await run();
  const order = [
    'load',
    'warm-up',
    '12 turns',
    'self-test',
    /^self-test: \d+ prompts × \d+ cuts bitwise equal$/,
    'turns',
  ];
  const places = order.map((wanted) =>
    heard.findIndex((line) => (wanted instanceof RegExp ? wanted.test(line) : line === wanted)),
  );
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(heard.slice(heard.indexOf('turns'))).toEqual(['turns', 'isolation', 'checks', 'analysis']);
});
