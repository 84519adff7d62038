import { existsSync, renameSync, rmSync } from 'node:fs';
import { getTableColumns, sql } from 'drizzle-orm';
import { BenchError } from '../../../src/base/bench-error.ts';
import { type BenchDatabase, openDatabase } from '../../../src/store/database.ts';
import { RunRepository } from '../../../src/store/run-repository.ts';
import { turns as turnTable } from '../../../src/store/schema.ts';
import type { RunResults } from '../../../src/store/records/results.ts';
import type { RunRecord } from '../../../src/store/records/run-record.ts';

/** The runs that are made: two of the same turns, so that they can be compared. */
export const longRunNames = ['long', 'again'] as const;

/** All columns but the id, which the database gives. */
const copied = Object.values(getTableColumns(turnTable)).flatMap(({ name }) => (name === 'id' ? [] : [name]));

/**
 * Makes a database with two runs, each of the turns of a stored one over and over: each copy of an item has an id of its own.
 * One that is there is left as it is.
 *
 * @param turns so many at least: every item is copied with all its turns
 * @param name the stored run; the latest that is finished, if not given
 * @throws BenchError `not-found` without such a run
 */
export function makeLongRuns(path: string, from: string, name: string | undefined, turns: number): void {
  if (existsSync(path)) return;
  if (!existsSync(from)) throw new BenchError('not-found', `there is no database ${from}`, 'make one: npm run bench');
  const unfinished = `${path}.part`;
  for (const end of ['', '-wal', '-shm']) rmSync(unfinished + end, { force: true });
  {
    using source = openDatabase({ path: from, readOnly: true });
    const runs = new RunRepository(source);
    const latest = (): string | undefined => runs.heads().findLast(({ resultsBytes }) => resultsBytes !== null)?.name;
    const run = runs.findByName(name ?? latest() ?? '');
    if (run === undefined) throw new BenchError('not-found', `${from} has no run ${name ?? ''}`, 'name one with --run');
    using target = openDatabase({ path: unfinished });
    target.query.run(sql`ATTACH ${from} AS source`);
    for (const made of longRunNames) copyTurns(target, run, runs.results(run.id), made, turns);
    target.query.run(sql`INSERT INTO token_pieces SELECT * FROM source.token_pieces`);
  }
  renameSync(unfinished, path);
}

function copyTurns(
  target: BenchDatabase,
  run: RunRecord,
  results: RunResults | null,
  name: string,
  turns: number,
): void {
  const { status, probes, finishedAt } = run;
  const stored = target.query.get<{ readonly turns: number }>(
    sql`SELECT count(*) AS turns FROM source.turns WHERE run_id = ${run.id}`,
  );
  const copies = Math.ceil(turns / stored.turns);
  const made = new RunRepository(target).create({ ...run, name });
  new RunRepository(target).update(made.id, { status, probes, finishedAt, ...(results === null ? {} : { results }) });
  const columns = sql.raw(copied.join(', '));
  const values = sql.join(
    copied.map((column) => {
      if (column === 'run_id') return sql`${made.id}`;
      return sql.raw(column === 'item_id' ? "item_id || '~' || copy" : `stored.${column}`);
    }),
    sql.raw(', '),
  );
  target.transaction(() =>
    target.query.run(sql`
      WITH RECURSIVE copies(copy) AS (VALUES (1) UNION ALL SELECT copy + 1 FROM copies LIMIT ${copies})
      INSERT INTO turns (${columns}) SELECT ${values}
      FROM copies CROSS JOIN source.turns AS stored WHERE stored.run_id = ${run.id}`),
  );
}
