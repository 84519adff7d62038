import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import type { RunsComparison } from '../../src/eval/analysis/compare/compare-runs.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { type HandmadeTurn, storeRun } from '../fixtures/stored-runs.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
const host = programIn(folder.path);

const compare = (...words: string[]) => host.run('compare', ...words);

/** Thirty users, a question each; the first `wrong` of them are answered wrongly. */
function turns(wrong: number, more: Partial<HandmadeTurn> = {}): HandmadeTurn[] {
  return ['oracle', 'full'].flatMap((arm) =>
    Array.from({ length: 30 }, (_, user) => ({
      ...{ itemId: `q${user}`, userId: `u${user}`, arm, right: user >= wrong, ...more },
    })),
  );
}

beforeAll(() => {
  using database = openDatabase({ path: folder.file('reports/dki-bench.sqlite') });
  storeRun(database, { name: 'good', turns: turns(0) });
  storeRun(database, { name: 'again', turns: turns(0) });
  storeRun(database, { name: 'worse', turns: turns(25), settings: { topK: 1 } });
  storeRun(database, { name: 'escape', turns: turns(1, { answer: '\u001b[2J\n我不知道' }), environment: { cpu: 'B' } });
  storeRun(database, { name: 'foreign', turns: turns(1), datasetSha256: 'f'.repeat(64) });
  storeRun(database, { name: 'unproven', turns: turns(1), proven: false });
  storeRun(database, { name: 'killed', turns: turns(1).slice(0, 20), status: 'interrupted' });
});

describe('two runs', () => {
  it('are shown with differences, what flipped of it, and settings', async () => {
    const { code, stdout, stderr } = await compare('worse', 'good');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('settings and code differ (A / B) in topK: 1 / 5');
    expect(stdout).toMatch(/^oracle: exact match +16\.7 +100\.0 +−83\.3 \[−9\d\.\d, −6\d\.\d\] +lost$/m);
    expect(stdout).toMatch(/^oracle: exact match +<\.001 +<\.001 +1\.000 +30 +30 +0 +25 +5$/m);
    expect(stdout).toContain('Time to first token');
    expect(stdout).toContain('oracle: 0 won, 25 lost, 5 tied');
    expect(stdout).toContain('− q0 Where does my sister live?\n  gold "Turin"\n  A    "Oslo"\n  B    "Turin"\n');
    expect(stdout.match(/^− q/gm)).toHaveLength(20);
    expect(stdout).toContain(
      '  … and 5 more: --json lists all\nfull: 0 won, 25 lost, 5 tied\n  … and 25 more: --json lists all',
    );
  });

  it('of the same answers are three lines', async () => {
    const { code, stdout } = await compare('good', 'again', '--arms', 'oracle');
    expect([code, stdout.split('\n')[2]]).toEqual([
      0,
      'Nothing changed: all answers score the same (oracle). Time to first token, A ÷',
    ]);
  });

  it('are one JSON document with all that flipped', async () => {
    const { code, stdout } = await compare('worse', 'good', '--arm', 'full', '--json');
    const { flips, differences } = JSON.parse(stdout) as RunsComparison;
    expect(code).toBe(0);
    expect(flips.map(({ arms, items }) => [arms.a, items.length])).toEqual([['full', 25]]);
    expect(differences.map(({ metric }) => metric)).toEqual([
      ...['exactMatch', 'contains', 'tokenF1', 'memoryRecall', 'taskSuccess', 'goldLogProbability', 'evaluatedTokens'],
      'ttftLogRatio',
    ]);
  });

  it('of two machines have no times; no answer commands the terminal', async () => {
    const { stdout } = await compare('good', 'escape', '--arms', 'oracle');
    expect(stdout).not.toContain('Time to first token');
    expect(stdout).toContain('Times are not compared: the machines differ in cpu: A CPU / B\n');
    expect(stdout).toContain('B    "\\u001b[2J\\n我不知道"');
    expect(stdout).not.toContain('\u001b');
  });

  it('of other data are compared by force, which is said', async () => {
    const forced = 'FORCED: the runs differ in data set: ours (dddddddddddd) / ours (ffffffffffff)';
    const stdout = expect.stringContaining(forced) as string;
    expect(await compare('good', 'foreign', '--force')).toMatchObject({ code: 0, stdout });
  });

  it('are marked and end with 1 where a check failed or one is not finished', async () => {
    const stdout = expect.stringContaining('NOT PROVEN: check metrics of unproven failed') as string;
    expect(await compare('good', 'unproven')).toMatchObject({ code: 1, stdout });
    const killed = await compare('killed', 'good', '--json');
    expect(killed.stderr).toContain('NOT COMPLETE: killed is interrupted, its checks are undecided; continue it: ');
    expect([killed.code, (JSON.parse(killed.stdout) as RunsComparison).a.status]).toEqual([1, 'interrupted']);
  });
});

it.each([
  [['good'], /^error: missing required argument 'run-b'\n/],
  [['good', 'wrose'], /^error: there is no run "wrose": did you mean worse\?\n/],
  [['good', 'good'], /^error: "good" is named twice\n/],
  [['good', 'worse', '--arm', 'orcale'], /^error: run "good" has no arm "orcale": did you mean oracle\?\n/],
  [['good', 'worse', '--arms', 'a/b/c'], /^error: --arms "a\/b\/c": expected comma-separated names\n/],
  [['good', 'foreign'], /^error: runs "good" and "foreign" differ in data set: /],
  [['good', 'worse', '--margin', 'x'], /^error: --margin "x": expected a number of points, 0 or more\n/],
  [['good', 'worse', '--db', 'none.sqlite'], /^error: there is no database none\.sqlite\n/],
])('%j ends with 2 and two lines', async (words, message) => {
  expectMistake(await compare(...words), message);
});
