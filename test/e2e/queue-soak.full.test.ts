import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { QueueRuns } from '../fixtures/queue-run.ts';
import type { RunningProcess } from '../fixtures/run-process.ts';

const WORKERS = 4;
const KILL_EVERY_MS = 20_000;
const FOR_MS = 300_000;
/** So many that they last for five minutes on two cores, and few that the merge is quick. */
const options = ['--limit', '240', '--users', '40', '--arms', 'none,rag,rag-cached,dki', '--repeats', '3'];

it('four workers over one queue, of which one is killed every 20 s for five minutes, give the run of one process', async () => {
  await using runs = await QueueRuns.start([...options, '--threads', '1']);
  await runs.plan('soak');
  const workers: RunningProcess[] = [];
  const startOne = () => workers.push(runs.worker('soak', {}, '--quiet'));
  for (let started = 0; started < WORKERS; started++) startOne();
  let killed = 0;
  for (let passed = 0; passed < FOR_MS; passed += KILL_EVERY_MS) {
    await wait(KILL_EVERY_MS);
    // The oldest: it is in a turn, or would be.
    const oldest = workers.find(({ child }) => child.exitCode === null && child.signalCode === null);
    if (oldest === undefined) break;
    oldest.child.kill('SIGKILL');
    killed++;
    startOne();
  }
  const ended = await Promise.all(workers.map((worker) => worker.ended));
  const codes = ended.map(({ code }) => code);
  expect([killed, codes.filter((code) => code === null).length]).toEqual([FOR_MS / KILL_EVERY_MS, killed]);
  // Whatever was put aside after six deaths is asked once more.
  if (codes.some((code) => code === 0)) {
    expect((await runs.plan('soak')).code).toBe(0);
    expect(await runs.worker('soak', {}, '--quiet').ended).toMatchObject({ code: 0 });
  }
  await runs.expectWhole('soak');
});
