import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { resultsOfRuns } from '../../src/eval/analysis/results-from-stored-turns.ts';
import { type Ended, program, runProcess } from '../fixtures/run-process.ts';
import { turnsWritten, untimedResults } from '../fixtures/untimed.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const KILLS = 20;

/** Runs `bench` in a process of its own, or kills it for good after `killAfterMs`. */
async function bench(
  folder: TestFolder,
  args: readonly string[],
  killAfterMs?: number,
): Promise<Ended & { ms: number }> {
  const start = performance.now();
  const few = ['--users', '10', '--limit', '16', '--arms', 'none,rag,rag-cached,dki'];
  const options = [...few, '--out', folder.path, '--quiet', ...args];
  const kill = killAfterMs === undefined ? {} : { killAfterMs };
  const ended = await runProcess([...program, 'bench', ...options], { cwd: root, ...kill });
  return { ...ended, ms: performance.now() - start };
}

/** All that a run has stored, but ids, times and what is timed. */
function stored(folder: TestFolder, name: string): unknown {
  using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
  const { id } = new RunRepository(database).findByName(name)!;
  const rows = (columns: string, table: string, session = 'session_id', order = 'rowid') =>
    database.query.all(`SELECT substr(${session}, ${id.length + 1}), ${columns} FROM ${table}
      WHERE ${session} LIKE '${id}%' AND ${session} NOT LIKE '%/isolation/%' ORDER BY ${order}`);
  return {
    turns: turnsWritten(database, name),
    sessions: rows('user_id', 'sessions', 'id', 'id'),
    messages: rows('role, content, injection_mode', 'conversations'),
    audits: rows('action, memory_ids, mode', 'audit_logs'),
    memories: rows('id, content', 'memories'),
    results: untimedResults(resultsOfRuns(database, name)[0]!),
  };
}

it.each([
  ['without a KV store', []],
  // The prefix cache, which users share there, is in memory: after a kill it finds no system text of earlier users.
  ['with a KV store', ['--kv-store', 'kv', '--arms', 'none,rag,dki']],
])(`ends with the same rows and the same table after ${KILLS} kills at random moments, %s`, async (_, options) => {
  using folder = new TestFolder();
  // A store holds the KV of earlier runs: each run begins with an empty one.
  const storeOf = (name: string) => options.map((word) => (word === 'kv' ? folder.file(`kv-${name}`) : word));
  const whole = await bench(folder, ['--run', 'whole', ...storeOf('whole')]);
  expect(whole.code).toBe(0);
  const expected = stored(folder, 'whole');

  const random = new SeededRandom(11);
  let kills = 0;
  let runs = 0;
  while (kills < KILLS || runs === 0) {
    const name = `killed-${runs}`;
    let started = false;
    for (;;) {
      const mode = started ? '--resume' : '--run';
      const session = await bench(
        folder,
        [mode, name, ...storeOf(name)],
        kills < KILLS ? random.float() * whole.ms : undefined,
      );
      if (session.code === 0) break;
      if (session.code === null) kills++;
      using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
      const run = new RunRepository(database).findByName(name);
      started = run !== undefined;
      // The last kill may hit a process that had nothing left to do.
      if (run?.status === 'finished') break;
      expect(session).toMatchObject({ code: null });
    }
    runs++;
    expect(stored(folder, name)).toEqual(expected);
  }
  expect(kills).toBe(KILLS);
});
