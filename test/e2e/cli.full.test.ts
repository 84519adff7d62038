import { expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { expectMistake } from '../fixtures/program-host.ts';
import { type ProcessOptions, program, runProcess, startProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();

const dkiBench = (words: readonly string[], options: ProcessOptions = {}) =>
  runProcess([...program, ...words], { cwd: folder.path, ...options });

it('a run that is interrupted has tables of what is there, and goes on to its end', async () => {
  const words = ['bench', '--limit', '64', '--arms', 'rag,dki', '--run', 'second'];
  const interrupted = await dkiBench(words, {
    onStderr: (text, child) => {
      if (text.includes(' 10 %') && !text.includes('stopping')) child.kill('SIGINT');
    },
  });
  const stderr = expect.stringMatching(/interrupted; continue with: .* --resume second\n$/) as string;
  expect(interrupted).toEqual({ code: 130, stdout: '', stderr });
  const unfinished = await dkiBench(['tables', '--run', 'second']);
  const progress = /UNFINISHED: (\d+) of (\d+) users, (\d+) of (\d+) turns/.exec(unfinished.stderr)!.map(Number);
  const [, users = 0, ofUsers = 0, turns = 0, ofTurns = 0] = progress;
  expect([unfinished.code, users < ofUsers, turns < ofTurns, turns > 0]).toEqual([0, true, true, true]);
  expect(unfinished.stdout.includes('UNFINISHED')).toBe(users > 0);
  // No verdict: the evidence funnel alone has a column of such a name.
  expect(unfinished.stdout.replaceAll('| kept |', '')).not.toMatch(/kept|lost|identical/);
  const listed = await dkiBench(['tables', '--run', 'second', '--per-turn', 'jsonl']);
  expect(listed.stderr).toMatch(/^second: UNFINISHED: .* --resume second\n$/);
  expect(listed.stdout.trimEnd().split('\n')).toHaveLength(turns);
  const message = 'error: run "second" is not finished: it has no results yet\n';
  expectMistake(await dkiBench(['tables', '--run', 'second', '--check']), message);
  const resumed = await dkiBench(['bench', '--resume', 'second', '--json']);
  expect(await dkiBench(['tables', '--run', 'second', '--check'])).toMatchObject({ code: 0 });
  const { arms, run } = JSON.parse(resumed.stdout) as RunResults;
  expect([resumed.code, run.status]).toEqual([0, 'finished']);
  expect(arms.map(({ n }) => n)).toEqual([run.dataset.items, run.dataset.items]);
});

it('of two processes one makes a run, and the other is told which does', async () => {
  let second: ReturnType<typeof runProcess> | undefined;
  const words = ['bench', '--arms', 'none,rag', '--run', 'one', '--limit', '200'];
  const { child, ended } = startProcess([...program, ...words], {
    cwd: folder.path,
    onStderr: (stderr) => {
      if (second !== undefined || !stderr.includes(': about ')) return;
      second = dkiBench(['bench', '--resume', 'one', '--quiet']);
    },
  });
  expect(await ended).toMatchObject({ code: 0 });
  const stderr = `error: process ${child.pid} is making run "one"\n  hint: wait until it ends, or stop it\n`;
  expect(await second).toEqual({ code: 2, stdout: '', stderr });
});

it('the doctor tries everything out and finds that the bench can run', async () => {
  const { code, stdout } = await dkiBench(['doctor', '--json']);
  const found = JSON.parse(stdout) as { able: boolean; checks: { name: string; state: string }[] };
  const { able, checks } = found;
  expect(checks.filter(({ state }) => state === 'fails')).toEqual([]);
  expect([able, code]).toEqual([true, 0]);
  expect(checks.map(({ name }) => name)).not.toContain('routing');
  const asking = await dkiBench(['doctor', '--json', '--retriever', 'hinted']);
  expect((JSON.parse(asking.stdout) as typeof found).checks.map(({ name }) => name)).toContain('routing');
});
