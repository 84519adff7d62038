import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { UserClaimRepository } from '../../src/store/user-claim-repository.ts';
import { runSuites } from '../../src/eval/run-suites.ts';
import { runWorker, type StartWorker, type WorkerTask } from '../../src/eval/run/workers/workers.ts';
import { suitesNamed } from '../../src/eval/suites/suites.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { fakeConfig, smallDataset } from '../fixtures/small-run.ts';
import { untimedResults, untimedTurns } from '../fixtures/untimed.ts';
import { folderOfEachTest } from '../fixtures/folder-of-each-test.ts';

const selectEngine = () => fakeAdapter.opener({});

/** A worker that a test has started. */
interface StartedWorker {
  readonly task: WorkerTask;
  /** Turns that it has taken. */
  turns: number;
  /** Users whom it has finished. */
  users: number;
}

/** Starts workers within this process, each with an engine and a database connection of its own. */
function workersInProcess(endAfterTurns = Infinity): {
  readonly startWorker: StartWorker;
  readonly started: readonly StartedWorker[];
} {
  const started: StartedWorker[] = [];
  const startWorker: StartWorker = (task, events) => {
    const worker: StartedWorker = { task, turns: 0, users: 0 };
    started.push(worker);
    const controller = new AbortController();
    const { signal } = controller;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const onTurn = (turns: number): void => {
      worker.turns++;
      // As a process that is killed: what it wrote of the user stays, and nobody says so.
      if (worker.turns > endAfterTurns) throw new Error('killed in a turn');
      events.onTurn(turns);
    };
    const onUser = (): void => {
      worker.users++;
      events.onUser();
    };
    const stop = (): void => {
      controller.abort();
      begin();
    };
    // As a process is: begun later.
    const ended = Promise.resolve()
      .then(() => runWorker(task, suitesNamed([task.suite])[0]!, selectEngine, { begun, onTurn, onUser, signal }))
      .then(
        () => null,
        (error: unknown) => (error as Error).message,
      );
    return { begin, stop, kill: stop, ended };
  };
  return { startWorker, started };
}

const folder = folderOfEachTest();
beforeEach(() => writeFileSync(folder.file('small.jsonl'), smallDataset(['ann', 'bob', 'eve', 'dan', 'kim'])));

async function run(
  name: string,
  flags: Readonly<Record<string, string>> = {},
  { endAfterTurns, startWorker }: { readonly endAfterTurns?: number; readonly startWorker?: StartWorker } = {},
): Promise<{ readonly results: RunResults; readonly started: readonly StartedWorker[] }> {
  const arms = 'none,rag,rag-cached,dki,dki-blocks';
  const given = { dataset: folder.file('small.jsonl'), arms, out: folder.path, run: name };
  const config = fakeConfig(folder, { ...given, ...flags });
  const own = workersInProcess(endAfterTurns);
  const [results] = await runSuites(config, selectEngine, {}, startWorker ?? own.startWorker);
  return { results: results!, started: own.started };
}

const turnsOf = (name: string) => untimedTurns(folder.file('dki-bench.sqlite'), name);

describe('several workers', () => {
  it('give the rows and the results of one, turn by turn', async () => {
    const one = await run('one');
    const three = await run('three', { workers: '3' });
    expect(one.started).toEqual([]);
    expect(three.started.map(({ task }) => task.number)).toEqual([2, 3]);
    // Otherwise nothing was compared.
    const theirs = three.started.reduce((sum, { users }) => sum + users, 0);
    expect(theirs).toBeGreaterThan(0);
    expect(theirs).toBeLessThan(5);
    expect(turnsOf('three')).toHaveLength(75);
    expect(turnsOf('three')).toEqual(turnsOf('one'));
    expect(untimedResults(three.results)).toEqual(untimedResults(one.results));
    // The books of all together, to the token.
    const { evaluatedTokens } = three.results.run.profile;
    expect(evaluatedTokens).toMatchObject({ unbooked: 0, scoring: one.results.run.profile.evaluatedTokens!.scoring });
    // Misses are more by those of the warm-up that each worker makes.
    const hits = ({ run: { kvStores } }: RunResults) => kvStores['dki']!['hits'];
    expect(hits(three.results)).toBe(hits(one.results));
    expect([one.results.run.workers, three.results.run.workers]).toEqual([undefined, 3]);
  });

  it('give a user whom a dead one had begun to another, and say so', async () => {
    const one = await run('one');
    const two = await run('two', { workers: '2' }, { endAfterTurns: 7 });
    expect(two.started[0]).toMatchObject({ turns: 8, users: 0 });
    expect(two.results.run.notes).toContain('worker 2 ended early (killed in a turn): other workers took its users');
    expect(turnsOf('two')).toEqual(turnsOf('one'));
    expect(untimedResults(two.results)).toEqual(untimedResults(one.results));
    using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
    const { id } = new RunRepository(database).findByName('two')!;
    expect([...new UserClaimRepository(database, id).unfinished()!]).toEqual([]);
  });

  it('give back the user on whom one warmed up that died before it took a turn', async () => {
    await run('one');
    const dying: StartWorker = ({ config, run: id, worker }) => {
      using database = openDatabase({ path: config.db });
      const first = { userId: 'ann', position: 0, turns: 15 };
      expect(new UserClaimRepository(database, id).claim(first, worker)).toBe('claimed');
      const nothing = (): void => undefined;
      return { begin: nothing, stop: nothing, kill: nothing, ended: Promise.resolve('killed') };
    };
    const { results } = await run('two', { workers: '2' }, { startWorker: dying });
    expect(results.run.notes).toContain('worker 2 ended early (killed): other workers took its users');
    expect(turnsOf('two')).toEqual(turnsOf('one'));
  });

  it('are no more than there are users, and one alone is under no load', async () => {
    for (const [users, started, workers] of [
      ['2', 1, 2],
      ['1', 0, undefined],
    ] as const) {
      const made = await run(`for-${users}`, { workers: '3', users });
      expect([made.started.length, made.results.run.workers]).toEqual([started, workers]);
    }
  });

  it('are not started where times are the result, and are refused where only one process can work', async () => {
    const { started, results } = await run('times', { workers: '2', suite: 'latency', arms: 'rag,dki' });
    expect([started, results.run.workers]).toEqual([[], undefined]);
    await expect(run('shared', { workers: '2', kvStore: folder.file('kv') })).rejects.toThrow(
      '--workers 2: users share the KV store',
    );
  });
});
