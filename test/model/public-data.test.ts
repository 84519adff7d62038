import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBench } from '../../src/cli/compose.ts';
import type { RunResults } from '../../src/records/results.ts';
import { reportTables } from '../../src/report/tables/report-tables.ts';
import { failedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

/** Questions in the shape of CacheBlend's inputs: of every third, no passage holds the answer. */
const questions = ['Turin', 'Lima', 'Oslo', 'Bergen', 'Quito', 'Rabat'].map((city, index) => ({
  question: `Where does the smith of house ${index} live?`,
  answers: [index % 3 === 2 ? `beyond ${city}` : city],
  ctxs: [
    { title: `House ${index}`, text: `The smith of house ${index} lives in ${city}.` },
    { title: '', text: `A baker sold house ${index}.` },
  ],
}));

const folder = new TestFolder();
afterAll(() => folder[Symbol.dispose]());
let results: RunResults;

beforeAll(async () => {
  const dataFile = folder.file('musique.json');
  writeFileSync(dataFile, JSON.stringify(questions));
  const flags = { dataset: 'musique-s', dataFile, arms: 'none,rag,oracle', topK: '1', run: 'public' };
  results = (await runBench(smallConfig(folder, flags)))[0]!;
});

describe('items whose evidence is unknown', () => {
  it('are left out of oracle, and their number is printed', () => {
    expect(results.run.dataset).toMatchObject({ items: 6, withoutEvidence: 2 });
    expect(results.arms.map(({ arm, n, metrics }) => [arm, n, metrics.tokenF1!.n])).toEqual([
      ['none', 6, 6],
      ['rag', 6, 6],
      ['oracle', 4, 4],
    ]);
    expect(results.run.notes).toContain(
      'no evidence is known of 2 of 6 items: they are left out of oracle, ranks of the evidence, the evidence funnel',
    );
    const { notes } = reportTables(results).get('1')!;
    expect(notes.join(' ')).toContain('oracle: over the 4 items whose evidence is known; of 2 it is not.');
  });

  it('are in no stage of the funnel, and the others are paired by item', () => {
    expect(results.arms.map(({ funnel }) => funnel.stored)).toEqual([4, 4, 4]);
    const oracle = results.comparisons.find(({ a, metric }) => a === 'oracle' && metric === 'tokenF1');
    expect(oracle).toMatchObject({ b: 'rag', n: 4, users: 4 });
    expect(failedChecks(results)).toEqual([]);
  });
});
