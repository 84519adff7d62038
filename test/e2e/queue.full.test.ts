import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PASSWORD } from '../fixtures/debian-postgres.ts';
import { expectMistake } from '../fixtures/program-host.ts';
import { QueueRuns } from '../fixtures/queue-run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let runs: QueueRuns;
beforeAll(async () => {
  runs = await QueueRuns.start(['--users', '10', '--limit', '12', '--arms', 'none,rag,rag-cached,dki']);
  // Nobody asks its users.
  expect(await runs.plan('none')).toMatchObject({ code: 0 });
});
afterAll(() => runs[Symbol.asyncDispose]());

it('two workers of a queue give the rows and the results of one process', async () => {
  expect(await runs.plan('two', '--json')).toMatchObject({ code: 0 });
  const workers = [runs.worker('two'), runs.worker('two')];
  const ended = await Promise.all(workers.map((worker) => worker.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const { run } = await runs.expectWhole('two');
  const users = ended.map(({ stdout }) => Number(/: (\d+) users, \d+ turns stored/.exec(stdout)?.[1]));
  expect(users[0]! + users[1]!).toBe(10);
  expect(run.notes).toContain(`merged from ${users.filter((count) => count > 0).length} workers of a queue`);
  expect(run.machines).toEqual([
    expect.objectContaining({ users: 10, turns: 80, threads: run.environment['threads'] }),
  ]);
});

it('status shows progress and workers', async () => {
  const { stdout } = await runs.run('queue', 'status', '--run', 'two', '--json');
  const progress = { name: 'two', stored: 10, users: 10, turns: 80, ofTurns: 80, isProbed: true };
  const workers = [{ state: 'done' }, { state: 'done' }];
  expect(JSON.parse(stdout)).toMatchObject({ runs: [{ progress, failures: [], workers }] });
  expect((await runs.run('queue', 'status')).stdout).toContain('two: 10 of 10 users, 80 of 80 turns, complete');
});

it('a plan is stored once, and another plan under its name is refused', async () => {
  const stdout = expect.stringContaining('planned before; 0 jobs put into the queue again') as string;
  expect(await runs.plan('two')).toMatchObject({ code: 0, stdout });
  const message = /^error: postgres:\/\/127\.0\.0\.1:\d+\/postgres has a run "two" of another plan\n/;
  expectMistake(await runs.plan('two', '--seed', '8'), message);
});

it('merge refuses a run that is not whole, and writes nothing', async () => {
  const merged = await runs.run('queue', 'merge', '--run', 'none', '--out', runs.folder.path);
  expectMistake(merged, /run "none": no results are stored yet/);
  const named = await runs.run('tables', '--run', 'none', '--out', runs.folder.path);
  expect(named.stderr).toContain('holds no run "none"');
});

it('the server holds neither a password nor a folder of the machine that planned', async () => {
  const rows = await runs.server.rows<{ plan: string; record: string }>(
    'SELECT plan, record FROM dki_bench_queue.runs r JOIN dki_bench_queue.workers w ON w.run_id = r.id',
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const secret of [PASSWORD, root, runs.folder.path]) expect(JSON.stringify(rows)).not.toContain(secret);
});

it('a worker of another version is refused in one line', async () => {
  const other = runs.folder.file('other');
  mkdirSync(other);
  cpSync(join(root, 'dist'), join(other, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'models', 'datasets', 'migrations', 'scripts', 'assets'])
    symlinkSync(join(root, name), join(other, name));
  const named = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
  writeFileSync(join(other, 'package.json'), JSON.stringify({ ...named, version: '9.9.9' }));
  const command = [process.execPath, join(other, 'dist/cli/main.js')];
  expectMistake(
    await runs.worker('none', { command }).ended,
    /^error: run "none" was planned with another version \(benchVersion \d+\.\d+\.\d+, here 9\.9\.9\)\n/,
  );
});

it.each([
  ['the model', '--model', 'recall-block'],
  ['the data set', '--dataset', 'facts-en'],
])('a worker with another %s is refused in one line', async (what, option, name) => {
  const { code, stderr } = await runs.worker('none', {}, option, name).ended;
  expect(stderr).toContain(`error: run "none": ${what} is not the one that the run began with\n`);
  expect(code).toBe(2);
});

it('a queue that cannot be reached is named without its password', async () => {
  const status = (password: string, port: number) =>
    runs.run('queue', 'status', '--queue', `postgres://bench:${password}@127.0.0.1:${port}/postgres`);
  expectMistake(
    await status(PASSWORD, 1),
    /^error: postgres:\/\/127\.0\.0\.1:1\/postgres: connect ECONNREFUSED [^\n]+\n/,
  );
  const refused = await status('wrong', runs.server.port);
  expectMistake(refused, /password authentication failed/);
  expect(refused.stderr).not.toContain('wrong@');
});
