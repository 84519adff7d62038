import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { noMounts, ownMounts } from '../fixtures/own-mounts.ts';
import { expectMistake } from '../fixtures/program-host.ts';
import { type Ended, program, runProcess } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const few = ['--users', '10', '--limit', '8', '--arms', 'rag,rag-cached,dki', '--quiet'];

/** Runs a script of `sh` beside a small disk at `./disk`; in it `bench` is the verb of that name. */
function besideDisk(folder: TestFolder, size: string, script: string): Promise<Ended> {
  mkdirSync(folder.file('disk'));
  const lines = [
    `mount -t tmpfs -o size=${size} tmpfs disk || exit 99`,
    `bench() { ${program.map((word) => `'${word}'`).join(' ')} bench ${few.join(' ')} "$@"; }`,
    script,
  ];
  return runProcess([...ownMounts!, 'sh', '-c', lines.join('\n')], { cwd: folder.path });
}

describe('a disk that is full', () => {
  it.for([
    ['KV states', '--out out --kv-store disk/kv', /^error: \S+: the KV state could not be written\n/],
    ['turns', '--out disk --kv-store kv', /^error: \S+dki-bench\.sqlite: no space left to write\n/],
  ] as const)('of %s ends a run that goes on where there is space', async ([, places, message], { skip }) => {
    skip(ownMounts === undefined, noMounts);
    using folder = new TestFolder();
    const resumed = await besideDisk(
      folder,
      '400k',
      `bench ${places} --run full >first.out 2>first.err; echo $? >first.code
       find disk -name '*.new' -o -name '*.partial' >left
       mount -o remount,size=64m disk
       bench ${places} --resume full --json`,
    );
    const written = (file: string): string => readFileSync(folder.file(file), 'utf8');
    const [stderr, stdout, code] = [written('first.err'), written('first.out'), Number(written('first.code'))];
    expectMistake({ code, stdout, stderr }, message);
    expect(stderr).toContain('hint: free some space');
    expect(written('left')).toBe('');
    expect(resumed.code).toBe(0);
    const { arms, run } = JSON.parse(resumed.stdout) as RunResults;
    expect([run.status, ...arms.map(({ n, errors }) => [n, errors])]).toEqual(['finished', [10, 0], [10, 0], [10, 0]]);
  });

  it('hides no result of a run whose report it cannot take, and keeps no half of it', async ({ skip }) => {
    skip(ownMounts === undefined, noMounts);
    using folder = new TestFolder();
    const ended = await besideDisk(
      folder,
      '16k',
      'bench --arms none,rag --db runs.sqlite --out disk --kv-store kv --json; code=$?; find disk -type f >left; exit $code',
    );
    expectMistake({ ...ended, stdout: '' }, /^error: the report cannot be written: ENOSPC: /);
    expect((JSON.parse(ended.stdout) as RunResults).run.status).toBe('finished');
    expect(readFileSync(folder.file('left'), 'utf8')).not.toMatch(/\.tmp$/m);
    const tables = await runProcess([...program, 'tables', '--db', 'runs.sqlite'], { cwd: folder.path });
    expect(tables).toMatchObject({ code: 0, stdout: expect.stringContaining('Table 1. ') as string });
  });
});

describe('a limit on the size of files', () => {
  it.for([
    ['200', /^error: \S+: the KV state could not be written\n/],
    ['500', /^error: \S+dki-bench\.sqlite cannot be written: disk I\/O error \(SQLITE_IOERR_WRITE\)\n/],
  ] as const)('of %s KiB ends a run with what to do, not by a signal', async ([kibibytes, message]) => {
    using folder = new TestFolder();
    const limited = ['bash', '-c', `ulimit -f ${kibibytes} && exec "$@"`, 'bash', ...program];
    expectMistake(await runProcess([...limited, 'bench', ...few], { cwd: folder.path }), message);
    const files = readdirSync(folder.path, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /\.(?:new|partial|tmp)$/.test(name))).toEqual([]);
  });
});
