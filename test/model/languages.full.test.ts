import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import { readDataset } from '../../src/data/read-dataset.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { shownTables } from '../../src/report/report-contents.ts';
import { resultsOfRuns } from '../../src/eval/analysis/results-from-stored-turns.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { failedChecks, smallConfig } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const chinese = join(import.meta.dirname, '../fixtures/hand-zh.jsonl');
const english = join(import.meta.dirname, '../../datasets/recall-en.jsonl');

const folder = temporaryFolder();
const flags = { dataset: `recall-en,${chinese}`, run: 'both', arms: 'none,rag,dki,dki-wrong', limit: '32' };
const [results] = (await runBench(smallConfig(folder, flags))) as [RunResults];

describe('a run that asks users of two languages', () => {
  it('passes its checks', () => {
    expect(failedChecks(results)).toEqual([]);
    expect(results.checks.find(({ check }) => check === 'metrics')!.evidence).toMatch(/data in en .*data in zh /);
  });

  it('says which data it asked, and how much of each', async () => {
    const [a, b] = [await readDataset(english), await readDataset(chinese)];
    expect(results.run.dataset).toMatchObject({ name: 'recall-en+hand-zh', users: 10, items: 40 });
    expect(results.run.dataset.parts).toEqual([
      { name: 'recall-en', sha256: a.sha256, language: 'en', items: 20, users: 5 },
      { name: 'hand-zh', sha256: b.sha256, language: 'zh', items: 20, users: 5 },
    ]);
    expect([a.sha256, b.sha256]).not.toContain(results.run.dataset.sha256);
    expect(results.run.settings['dataset']).toEqual(['recall-en.jsonl', 'hand-zh.jsonl']);
  });

  it('breaks quality down by language, with intervals over the users of each', () => {
    for (const { arm, breakdown } of results.arms) {
      const parts = breakdown.filter(({ field }) => field === 'language');
      const whole = { taskSuccess: { n: 20, users: 5 } };
      const ofEach = ['en', 'zh'].map((value) => ({ value, metrics: whole }));
      expect(parts, arm).toMatchObject(ofEach);
      expect(parts[1]!.metrics).toMatchObject({ exactMatch: { n: 15 }, tokenF1: { n: 15 }, abstention: { n: 5 } });
    }
    const rag = results.arms.find(({ arm }) => arm === 'rag')!;
    const [en, zh] = rag.breakdown.filter(({ field }) => field === 'language').map(({ metrics }) => metrics);
    expect(en!.exactMatch!.mean).toBeGreaterThan(0.5);
    expect(zh!.exactMatch!.mean).toBeLessThan(en!.exactMatch!.mean);
    expect(zh!.taskSuccess!.low).toBeLessThanOrEqual(zh!.taskSuccess!.mean);
  });

  it('takes the right answer to absent questions from the data set of the user', () => {
    const absent = answeredTurns(smallConfig(folder), 'both', 'none').filter(({ item }) => item.gold === null);
    // Without memories the model says to each in their language that it does not know.
    const said = absent.map(({ item, answer }) => `${item.language} ${answer.text.trim()}`);
    expect(new Set(said)).toEqual(new Set(["en I don't know.", 'zh 我不知道。']));
    expect(absent.filter(({ scores }) => scores.abstention !== 1)).toEqual([]);
    using database = openDatabase({ path: smallConfig(folder).db });
    expect(resultsOfRuns(database, 'both')).toEqual([results]);
  });
});

it('a run of one language has one row for it, which repeats the whole, and shows none', async () => {
  const [alone] = await runBench(
    smallConfig(folder, { dataset: chinese, run: 'zh', arms: 'none,rag', users: '5', limit: '8' }),
  );
  expect(alone!.run.dataset).toMatchObject({ name: 'hand-zh', users: 5 });
  expect(alone!.run.dataset).not.toHaveProperty('parts');
  expect(alone!.run.settings['dataset']).toEqual(['hand-zh.jsonl']);
  for (const { n, metrics, breakdown } of alone!.arms) {
    const parts = breakdown.filter(({ field }) => field === 'language');
    expect(parts).toMatchObject([{ value: 'zh', n, metrics: { taskSuccess: metrics.taskSuccess } }]);
  }
  expect(shownTables(alone!).flatMap(({ blocks }) => blocks.map(({ title }) => title ?? ''))).not.toContainEqual(
    expect.stringMatching(/language|Chinese/i),
  );
});
