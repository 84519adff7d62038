import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { QueueRuns } from '../fixtures/queue-run.ts';
import { program, type RunningProcess, runProcess } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const WORKERS = 4;
const KILL_EVERY_MS = 20_000;
const FOR_MS = 300_000;
const MIN_KILLED = 5;
/** Many users with few turns, as a run has that is given to many workers. */
const USERS = '300';
const options = ['--users', USERS, '--limit', '3000', '--arms', 'none,rag,rag-cached,dki', '--threads', '1'];

it('four workers over one queue, of which one is killed every 20 s for five minutes, give the run of one process', async () => {
  using folder = new TestFolder();
  const data = ['--dataset', folder.file('many.jsonl')];
  const made = await runProcess([...program, 'data', 'make', 'recall-en', '--users', USERS, '--out', data[1]!]);
  expect(made).toMatchObject({ code: 0 });
  await using runs = await QueueRuns.start([...options, ...data]);
  await runs.plan('soak');
  const workers: RunningProcess[] = [];
  const startOne = () => workers.push(runs.worker('soak', {}, ...data, '--quiet'));
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
  expect(codes.filter((code) => code === null)).toHaveLength(killed);
  // A faster machine is done before five minutes are over.
  expect(killed).toBeGreaterThanOrEqual(MIN_KILLED);
  process.stdout.write(`${killed} workers were killed\n`);
  // A user whose workers died six times was put aside, and is asked once more.
  expect((await runs.plan('soak')).code).toBe(0);
  expect(await runs.worker('soak', {}, ...data, '--quiet').ended).toMatchObject({ code: 0 });
  await runs.expectWhole('soak');
});
