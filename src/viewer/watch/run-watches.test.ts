import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { RunWatch, RunWatches, type WatchedState } from './run-watches.ts';

const live = () => new AbortController().signal;
const until = (holds: () => boolean) => vi.waitUntil(holds, { interval: 2, timeout: 60_000 });

/** A run whose states are set by hand, and how often they were read. */
function watched(beatMs = 60_000) {
  const run = { version: 1, html: 'one', ended: false, reads: 0, failure: undefined as Error | undefined };
  const read = (): Promise<WatchedState> => {
    run.reads++;
    if (run.failure !== undefined) return Promise.reject(run.failure);
    return Promise.resolve({ html: run.html, ended: run.ended });
  };
  const write = (html: string, ended = false): void => {
    Object.assign(run, { version: run.version + 1, html, ended });
  };
  return { run, write, watch: new RunWatch({ version: () => run.version, read, pauseMs: 2, beatMs }) };
}

test('tells every follower each state once, reads it once for all, and ends with the run', async () => {
  const { run, write, watch } = watched();
  const heard: string[][] = [[], []];
  const follow = async (mine: string[]) => {
    for await (const state of watch.follow(live())) {
      if (state !== undefined) mine.push(state.html);
    }
  };
  const following = heard.map(follow);
  for (const [place, html] of ['two', 'three'].entries()) {
    await until(() => heard.every(({ length }) => length > place));
    write(html, html === 'three');
  }
  await Promise.all(following);
  expect(heard).toEqual([['one', 'two', 'three'], ['one', 'two', 'three']]); // prettier-ignore
  expect([run.reads, watch.followers]).toEqual([3, 0]);
});

test('skips states for who is slow, and tells nothing new from time to time', async () => {
  const { run, write, watch } = watched(5);
  const heard: (string | undefined)[] = [];
  for await (const state of watch.follow(live())) {
    heard.push(state?.html);
    if (state?.html === 'one') {
      for (const html of ['two', 'three']) {
        const { reads } = run;
        write(html);
        await until(() => run.reads > reads);
      }
    } else if (state === undefined) write('four', true);
  }
  expect(heard.filter((html) => html !== undefined)).toEqual(['one', 'three', 'four']);
  expect(heard).toContain(undefined);
});

test('stops reading when the last follower has gone', async () => {
  const { run, watch } = watched(0);
  const controller = new AbortController();
  const gone = (async () => {
    for await (const _ of watch.follow(controller.signal)) if (run.reads > 3) controller.abort();
  })();
  await expect(gone).rejects.toThrow('abort');
  const { reads } = run;
  await wait(20);
  expect([run.reads, watch.followers]).toEqual([reads, 0]);
});

test('ends for all followers where the state cannot be read', async () => {
  const { run, write, watch } = watched();
  const follow = async () => {
    for await (const _ of watch.follow(live()));
  };
  const following = [follow(), follow()];
  await until(() => run.reads === 1);
  run.failure = new Error('no such table');
  write('two');
  const ends = await Promise.allSettled(following);
  expect(ends.map((end) => end.status === 'rejected' && (end.reason as Error).message)).toEqual([
    'no such table',
    'no such table',
  ]);
});

test('follows so many at most, and forgets a run that nobody follows', async () => {
  const made: string[] = [];
  const watches = new RunWatches((run) => {
    made.push(run);
    return watched().watch;
  }, 2);
  const controllers = [new AbortController(), new AbortController()];
  const following = controllers.map(async ({ signal }) => {
    for await (const _ of watches.follow('a', signal));
  });
  expect([watches.isFull, made]).toEqual([true, ['a']]);
  for (const controller of controllers) controller.abort();
  await Promise.allSettled(following);
  expect(watches.isFull).toBe(false);
  const again = watches.follow('a', live());
  await again.next();
  await again.return();
  expect(made).toEqual(['a', 'a']);
});
