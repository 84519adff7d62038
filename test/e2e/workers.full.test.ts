import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { isProcessRunning } from '../../src/base/is-process-running.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { childrenOf, program, runProcess, startProcess } from '../fixtures/run-process.ts';
import { untimedResults, untimedTurns } from '../fixtures/untimed.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const HEEDED_MS = 2000;
const options = ['--users', '10', '--limit', '16', '--arms', 'none,rag,rag-cached,dki'];

const folder = temporaryFolder();
beforeAll(async () => {
  expect(await bench('--run', 'one')).toMatchObject({ code: 0 });
});

const words = (...more: readonly string[]): string[] => [...program, 'bench', '--out', folder.path, ...more];

const bench = (...more: readonly string[]) => runProcess(words(...options, ...more), { cwd: root });

const turnsOf = (name: string) => untimedTurns(folder.file('dki-bench.sqlite'), name);

function resultsOf(name: string): RunResults {
  return JSON.parse(readFileSync(folder.file(`${name}/results.json`), 'utf8')) as RunResults;
}

/** Expects the rows and the results of the run of one worker. */
function expectWhole(name: string): void {
  expect(turnsOf(name)).toEqual(turnsOf('one'));
  expect(untimedResults(resultsOf(name))).toEqual(untimedResults(resultsOf('one')));
}

/** Starts two workers, and acts when so much of the turns is taken. */
async function atShare(name: string, percent: number, act: (pid: number, children: readonly number[]) => void) {
  let [acted, children] = [0, [] as number[]];
  const { child, ended } = startProcess(words(...options, '--run', name, '--workers', '2'), {
    cwd: root,
    onStderr: (text) => {
      const reached = [...text.matchAll(/ (\d+) % of/g)].some(([, share]) => Number(share) >= percent);
      if (acted > 0 || !reached) return;
      children = childrenOf(child.pid!);
      act(child.pid!, children);
      acted = performance.now();
    },
  });
  const end = await ended;
  return { ...end, children, heededMs: performance.now() - acted };
}

async function untilGone(processes: readonly number[]): Promise<void> {
  for (let tries = 0; tries < 600 && processes.some(isProcessRunning); tries++) await wait(50);
  expect(processes.filter(isProcessRunning)).toEqual([]);
}

it('two workers give the rows and the results of one', async () => {
  expect(await bench('--run', 'two', '--workers', '2')).toMatchObject({ code: 0 });
  expectWhole('two');
});

it('a worker that is killed loses nothing', async () => {
  const { code, children } = await atShare('killed', 30, (_, [child]) => process.kill(child!, 'SIGKILL'));
  expect([code, children.length]).toEqual([0, 1]);
  const note = 'worker 2 ended early (SIGKILL): other workers took its users';
  expect(resultsOf('killed').run.notes).toContain(note);
  expectWhole('killed');
});

it.each(['SIGINT', 'SIGTERM'] as const)('%s ends all of them, and the run goes on', async (signal) => {
  const name = `by-${signal.toLowerCase()}`;
  const { code, stderr, children, heededMs } = await atShare(name, 20, (pid) => process.kill(pid, signal));
  expect([code, children.length]).toEqual([130, 1]);
  expect(stderr).toMatch(new RegExp(`interrupted; continue with: .* --resume ${name} .*\n$`));
  expect(heededMs).toBeLessThan(HEEDED_MS);
  await untilGone(children);
  expect(await runProcess(words('--resume', name), { cwd: root })).toMatchObject({ code: 0 });
  expectWhole(name);
});

it('workers of a process that is killed end by themselves, and the run goes on', async () => {
  const { code, children } = await atShare('orphans', 20, (pid) => process.kill(pid, 'SIGKILL'));
  expect([code, children.length]).toEqual([null, 1]);
  await untilGone(children);
  expect(await runProcess(words('--resume', 'orphans'), { cwd: root })).toMatchObject({ code: 0 });
  expectWhole('orphans');
});
