import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { type Ended, program, runProcess } from '../fixtures/run-process.ts';

const { path: folder } = temporaryFolder();
const host = programIn(folder);

/** Calls the program as a user would, in a folder of its own. */
const dkiBench = (words: readonly string[]) => host.run(...words);

it('is a program that says its version, and ends with 2 at a mistake', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  const inProcess = (...words: readonly string[]) => runProcess([...program, ...words], { cwd: folder });
  expect(await inProcess('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(await inProcess('bnech')).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: unknown command 'bnech'\n  hint: did you mean bench?\n",
  });
});

it.each([
  [['tables'], 'error: there is no database reports/dki-bench.sqlite\n  hint: make one: npx dki-bench bench\n'],
  [['inspect'], 'error: there is no database reports/dki-bench.sqlite\n  hint: make one: npx dki-bench bench\n'],
  [['inspect', '--export', 'x', '--print'], 'error: --print has no effect with --export, which writes a whole run\n'],
  [['inspect', '--print', '--port', '0'], 'error: --port is of the viewer, and turns are printed\n'],
  [['tables', '--check', '--write'], "error: option '--check' cannot be used with option '--write'\n"],
  [['bench', '--lengths', '512'], 'error: --lengths: has no effect in this run\n'],
  [['bench', '--arms', 'rag\u001b[2J'], 'error: --arms: unknown arm "rag\\u001b[2J'],
])('%j ends with 2 and two lines, without an escape sequence', async (words, message) => {
  const ended = await dkiBench(words);
  expectMistake(ended, message);
  expect(ended.stderr).not.toContain('\u001b');
});

describe('a run', () => {
  const few = ['--users', '10', '--limit', '8', '--arms', 'none,rag,dki', '--out', 'reports'];
  let interrupted: Ended;
  let json: Ended;
  let results: RunResults;

  beforeAll(async () => {
    interrupted = await runProcess([...program, 'bench', ...few, '--threads', '1', '--run', 'first', '--json'], {
      cwd: folder,
      onStderr: (text, child) => {
        if (text.includes(' of 30 turns') && !text.includes('stopping')) child.kill('SIGINT');
      },
    });
    json = await dkiBench(['bench', '--resume', 'first', '--json']);
    results = JSON.parse(json.stdout) as RunResults;
  });

  it('ends with 130 when interrupted, and says how to go on', () => {
    const stderr = expect.stringMatching(/interrupted; continue with: .* --threads 1 --resume first\n$/) as string;
    expect(interrupted).toEqual({ code: 130, stdout: '', stderr });
    expect(interrupted.stderr).not.toContain('100 % of 30 turns');
  });

  it('gives one JSON document on standard output, and 0 where all checks pass', () => {
    expect(json.code).toBe(0);
    expect(results.run).toMatchObject({ name: 'first', status: 'finished', dataset: { users: 10, items: 10 } });
    expect(results.arms.map(({ arm, n }) => `${arm} ${n}`)).toEqual(['none 10', 'rag 10', 'dki 10']);
    expect(json.stderr).toContain('100 % of 30 turns');
    expect(json.stderr).toContain('--run first --item ');
  });

  it('is in the list of runs, which an unknown name points to', async () => {
    const { stdout } = await dkiBench(['list', 'runs']);
    expect(stdout).toMatch(/^first +main +finished +\d{4}-\d\d-\d\d \d\d:\d\d +recall-base/m);
    expect(JSON.parse((await dkiBench(['list', 'runs', '--json'])).stdout)).toMatchObject([
      { name: 'first', items: 10 },
    ]);
    expect((await dkiBench(['inspect', '--run', 'fist', '--print'])).stderr).toContain(
      'first; all: npx dki-bench list runs',
    );
  });

  it('writes the report, which is what was printed', async () => {
    const report = join(folder, 'reports/first');
    expect(JSON.parse(readFileSync(join(report, 'results.json'), 'utf8'))).toEqual(JSON.parse(json.stdout));
    const names = readdirSync(join(report, 'tables'));
    const tables = ['md', 'tex', 'csv', 'json'].map((type) => `table-1.${type}`);
    expect(names).toEqual(expect.arrayContaining([...tables, 'table-1b.md', 'checks.json']));
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const stdout = 'reports/first: agrees with the stored turns\n';
    expect(await dkiBench(['tables', '--check'])).toMatchObject({ code: 0, stdout });
  });

  it('draws its tables again, the same as the report', async () => {
    const stdout = readFileSync(join(folder, 'reports/first/tables/table-1.csv'), 'utf8');
    expect(await dkiBench(['tables', '--table', '1', '--format', 'csv'])).toMatchObject({ code: 0, stdout });
    expect(JSON.parse((await dkiBench(['tables', '--format', 'json'])).stdout)).toHaveLength(3);
  });

  it('names what was changed in a report afterwards', async () => {
    const file = join(folder, 'reports/first/results.json');
    const honest = readFileSync(file, 'utf8');
    writeFileSync(file, honest.replace('"seed":7', '"seed":8'));
    const stdout = 'reports/first: results.json: run.seed differs\n';
    expect(await dkiBench(['tables', '--check'])).toMatchObject({ code: 1, stdout });
    writeFileSync(file, honest);
  });

  it('can be looked into, one arm or two', async () => {
    const inspect = (...words: readonly string[]) => dkiBench(['inspect', ...words]);
    const stdout = expect.stringMatching(/^query +\d+ {2}evaluated {2}User: /m) as string;
    expect(await inspect('--arm', 'dki', '--print')).toMatchObject({ code: 0, stdout });
    expect((await inspect('--arm', 'rag,dki', '--print')).stdout).toMatch(/^sequences +identical, \d+ tokens$/m);
    const document = JSON.parse((await inspect('--json')).stdout) as unknown;
    expect(document).toMatchObject({ run: { name: 'first' }, turns: [{ arm: 'dki', state: 'answered' }] });
    const wrong = await inspect('--arm', 'dkii', '--print');
    expectMistake(wrong, 'error: run "first" has no arm "dkii": did you mean dki?\n');
  });

  it('does not mind a reader that has seen enough', async () => {
    const words = [...program, 'inspect', '--json', '--db', join(folder, 'reports/dki-bench.sqlite')];
    const piped = words.map((word) => `'${word}'`).join(' ');
    const script = `set -o pipefail; for i in 1 2; do ${piped}; done | head -n 1`;
    const { code, stderr } = await runProcess(['bash', '-c', script]);
    expect([code, stderr]).toEqual([0, '']);
  });

  it('is refused where the open model shows that an option cannot be met, and leaves nothing behind', async () => {
    const words = ['bench', ...few, '--reserve', '2048', '--out', 'none', '--quiet'];
    expectMistake(await dkiBench(words), 'error: --reserve 2048: not smaller than the window of 2048 tokens\n');
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  it('is marked and ends with 1 where a check fails', async () => {
    const database = new Sqlite(join(folder, 'reports/dki-bench.sqlite'));
    database.exec(`
      UPDATE turns SET measures = json_set(measures, '$.tokens.evaluated', measures ->> '$.tokens.evaluated' + 1)
      WHERE arm = 'dki' AND run_id = (SELECT id FROM runs WHERE name = 'first')`);
    database.close();
    expect(await dkiBench(['tables', '--run', 'first', '--table', '1'])).toEqual({
      code: 1,
      stdout: expect.stringContaining('NOT PROVEN: check token accounting failed') as string,
      stderr: 'first: NOT PROVEN: check token accounting failed\n',
    });
  });
});

it('the doctor names what is broken', async () => {
  const stdout = expect.stringMatching(/^✗ model/m) as string;
  expect(await dkiBench(['doctor', '--model', 'none.gguf'])).toMatchObject({ code: 1, stdout });
});
