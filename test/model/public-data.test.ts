import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { WithheldTexts } from '../../src/cli/reveal-withheld-texts.ts';
import { privateTextHash } from '../../src/base/private-text-hash.ts';
import { openDatabase } from '../../src/store/database.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import { findRuns } from '../../src/eval/analysis/results-from-stored-turns.ts';
import { exportPages } from '../../src/viewer/export-pages.ts';
import { readComparison } from '../../src/viewer/compare/compare-arms-page.ts';
import { readTurnPage, turnsJson } from '../../src/viewer/turn/turn-page.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { writeReport } from '../../src/report/report-files.ts';
import { reportTables } from '../../src/report/report-contents.ts';
import { turnLines } from '../../src/report/export-turns.ts';
import { failedChecks, smallConfig } from './bench-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

/** Questions in the shape of CacheBlend's inputs: of every third, no passage holds the answer. */
const questions = ['Turin', 'Lima', 'Oslo', 'Bergen', 'Quito', 'Rabat'].map((city, index) => ({
  question: `Where does the smith of house ${index} live?`,
  answers: [index % 3 === 2 ? `beyond ${city}` : city],
  ctxs: [
    { title: `House ${index}`, text: `The smith of house ${index} lives in ${city}.` },
    { title: '', text: `A baker sold house ${index}.` },
  ],
}));

const folder = temporaryFolder();
const dataFile = folder.file('musique.json');
writeFileSync(dataFile, JSON.stringify(questions));
const flags = { dataset: 'musique-s', dataFile, arms: 'none,rag,oracle', topK: '1', run: 'public' };
const config = smallConfig(folder, flags);
const [results] = (await runBench(config)) as [RunResults];
const database = openDatabase({ path: config.db, readOnly: true });
afterAll(() => database.close());

describe('items whose evidence is unknown', () => {
  it('are left out of oracle, and their number is printed', () => {
    expect(results.run.dataset).toMatchObject({ items: 6, withoutEvidence: 2 });
    expect(results.arms.map(({ arm, n, metrics }) => [arm, n, metrics.tokenF1!.n])).toEqual([
      ['none', 6, 6],
      ['rag', 6, 6],
      ['oracle', 4, 4],
    ]);
    expect(results.run.notes).toContain(
      '2 of 6 items name no evidence; they are left out of oracle, ranks of the evidence, the evidence funnel',
    );
    const { notes } = reportTables(results).get('1')!;
    expect(notes.join(' ')).toContain('oracle: over the 4 items with known evidence; 2 have none.');
  });

  it('are in no stage of the funnel, and the others are paired by item', () => {
    expect(results.arms.map(({ funnel }) => funnel.stored)).toEqual([4, 4, 4]);
    const oracle = results.comparisons.find(({ a, metric }) => a === 'oracle' && metric === 'tokenF1');
    expect(oracle).toMatchObject({ b: 'rag', n: 4, users: 4 });
    expect(failedChecks(results)).toEqual([]);
  });
});

/** Words that stand in the file alone: in its questions, passages, titles and answers. */
const foreign = /smith|baker|Turin|Lima|Oslo|Bergen|Quito|Rabat|beyond/;

/** All that the files of a folder hold, by name. None holds a text of the public set. */
function cleanFiles(path: string): Map<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(path, name)).isFile());
  const contents = new Map(files.map((name) => [name, readFileSync(join(path, name), 'utf8')]));
  expect([...contents].filter(([, content]) => foreign.test(content))).toEqual([]);
  return contents;
}

const question = questions[0]!.question;

describe('texts of a public set', () => {
  it('stand in no file of the report', async () => {
    await writeReport(folder.file('report'), [results]);
    const files = cleanFiles(folder.file('report'));
    expect([...files.keys()]).toEqual(expect.arrayContaining(['results.json', 'report.html', 'tables/table-1.md']));
  });

  it('stand in no line of the list of turns: hashes do', () => {
    const [run] = findRuns(database, 'public');
    for (const format of ['csv', 'jsonl'] as const) {
      const turns = new TurnRepository(database).listForResults(run!.id);
      const lines = [...turnLines([{ run: run!, turns }], format)].join('');
      expect(lines).not.toMatch(foreign);
      expect(lines).toContain(privateTextHash(question));
    }
  });

  it('stand in no file of an export: hashes and ids do', async () => {
    const [path, signal, onProgress] = [folder.file('export'), new AbortController().signal, () => undefined];
    await exportPages({ database, run: 'public', folder: path, mostBytes: 1e8, onProgress, signal });
    const files = cleanFiles(path);
    expect(files.size).toBeGreaterThan(20);
    const all = [...files.values()].join('');
    for (const hash of [privateTextHash(question), privateTextHash('Turin'), 'q001-p01']) expect(all).toContain(hash);
    expect(all).toContain('No texts: hashes replace the texts of musique-s, which may not be redistributed');
  });

  it('are shown only with the file', () => {
    const ref = { run: 'public', item: 'q001', arm: 'rag', repeat: 0, turn: 0 };
    const shownWith = (file: string) =>
      turnsJson([readTurnPage(database, ref, undefined, new WithheldTexts(file).hidden)]);
    const other = folder.file('other.json');
    writeFileSync(other, JSON.stringify(questions.slice(1)));
    expect(shownWith(dataFile)).toContain(question);
    expect(shownWith(other)).not.toMatch(foreign);
    expect(shownWith(other)).toContain('other.json (sha256');
    expect(turnsJson([readTurnPage(database, ref)])).not.toMatch(foreign);
    const pair = { a: 'public', armA: 'rag', b: 'public', armB: 'none' };
    expect(JSON.stringify(readComparison(database, pair))).not.toMatch(foreign);
  });
});
