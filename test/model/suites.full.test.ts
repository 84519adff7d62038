import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { resultsOfRuns } from '../../src/eval/analysis/results-from-stored-turns.ts';
import { shownTables } from '../../src/report/report-contents.ts';
import { formatCell } from '../../src/render/table.ts';
import { failedChecks, smallConfig } from './bench-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const suites = ['context', 'alpha', 'coherence', 'scaling', 'coreference'];

const folder = temporaryFolder();
const flags = { suite: suites.join(), run: 'paper', limit: '72', arms: 'rag,rag@budget=all,dki@alpha=0,dki@alpha=1' };
const runs = new Map((await runBench(smallConfig(folder, flags))).map((results) => [results.run.suite, results]));

function conditionsOf(suite: string, arm: string): RunResults['conditions'] {
  return runs.get(suite)!.conditions.filter((one) => one.arm === arm && one.place === null);
}

describe('suites that are asked for together', () => {
  it('are runs of one name, whose checks pass, and are found again together', () => {
    expect([...runs.values()].map(({ run }) => run.name)).toEqual(suites.map((suite) => `paper/${suite}`));
    for (const results of runs.values()) expect(failedChecks(results)).toEqual([]);
    using database = openDatabase({ path: smallConfig(folder).db });
    expect(resultsOfRuns(database, 'paper')).toEqual([...runs.values()]);
  });

  it('name no folder of this machine in what may be sent to others', () => {
    const text = JSON.stringify([...runs.values()]);
    for (const path of [folder.path, process.cwd()]) expect(text).not.toContain(path);
  });

  it('draw the table of each', () => {
    const ids = [...runs.values()].flatMap((results) => shownTables(results).map(({ id }) => id));
    expect(ids).toEqual(['table-2', 'table-4', 'table-6', 'table-f2', 'table-f3', 'table-10']);
    for (const table of [...runs.values()].flatMap(shownTables)) {
      const cells = table.rows.flatMap(({ cells: row }) =>
        table.blocks.flatMap(({ columns }) => columns.map(({ key }) => formatCell(row[key]))),
      );
      expect(
        cells.filter((cell) => /NaN|Infinity|undefined/.test(cell)),
        table.id,
      ).toEqual([]);
    }
  });
});

it('the context suite fills the window: memories drop out of half of it, and fewer out of all of it', () => {
  const [first, last] = [conditionsOf('context', 'rag')[0]!, conditionsOf('context', 'rag').at(-1)!];
  expect(first.memories.dropped).toBe(0);
  expect(last.memories.dropped).toBeGreaterThan(0);
  const all = conditionsOf('context', 'rag@budget=all').at(-1)!;
  expect(all.memories.kept).toBeGreaterThan(last.memories.kept);
  expect(all.tokens.prompt).toBeLessThanOrEqual(runs.get('context')!.run.model.contextTokens);
});

it('the alpha suite shows what scaled values do to recall and to fluency, and nothing at one', () => {
  const arms = new Map(runs.get('alpha')!.arms.map((arm) => [arm.arm, arm.metrics]));
  const [silent, whole, rag] = [arms.get('dki@alpha=0')!, arms.get('dki@alpha=1')!, arms.get('rag')!];
  expect(whole.exactMatch).toEqual(rag.exactMatch);
  expect(whole.klDivergence!.mean).toBe(0);
  expect(silent.exactMatch!.mean).toBeLessThan(rag.exactMatch!.mean);
  expect(silent.klDivergence!.mean).toBeGreaterThan(0.1);
  expect(silent.goldLogProbability!.mean).toBeLessThan(rag.goldLogProbability!.mean);
  expect(rag.freeLogProbability!.mean).toBeLessThan(0);
});

it('the coherence suite makes a history of what the arm itself answered', () => {
  const turns = conditionsOf('coherence', 'rag');
  expect(turns.map(({ condition }) => condition)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  const prompts = turns.map(({ tokens }) => tokens.prompt);
  expect(prompts.at(-1)! - prompts[0]!).toBeGreaterThan(60);
});

it('the scaling suite asks at each number of memories for evidence at each place', () => {
  const { conditions } = runs.get('scaling')!;
  expect(conditionsOf('scaling', 'rag').map(({ condition }) => condition)).toEqual([1, 2, 5, 10]);
  const places = conditions.filter(({ arm, condition }) => arm === 'rag' && condition === 5).map(({ place }) => place);
  expect(places).toEqual([null, 'early', 'middle', 'late']);
  const tokens = conditionsOf('scaling', 'rag').map(({ memories }) => memories.tokens);
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
});

it('the coreference suite asks for what one memory holds and for what takes the memory before it as well, every memory retrieved', () => {
  const asked = conditionsOf('coreference', 'rag');
  const same = { n: asked[0]!.n, memories: { stored: 5, kept: 5 } };
  expect(asked).toMatchObject([1, 2].map((condition) => ({ condition, ...same })));
});
