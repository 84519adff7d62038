import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { getTableColumns, sql } from 'drizzle-orm';
import { runBench } from '../../../src/bench/run-bench.ts';
import { loadBenchConfig } from '../../../src/bench/load-config.ts';
import { type BenchDatabase, openDatabase } from '../../../src/store/database.ts';
import { RunRepository } from '../../../src/store/run-repository.ts';
import { turns as turnTable } from '../../../src/store/schema.ts';

/** Two runs of the same turns, which can be compared. */
export const longRunNames = ['long', 'again'] as const;
const SMALL = 'small';

const removeDatabase = (path: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
};

/** Runs the main suite on some questions, once per folder. */
async function smallRun(folder: string): Promise<string> {
  const db = resolve(folder, 'small.sqlite');
  if (existsSync(db)) return db;
  const unfinished = `${db}.part`;
  removeDatabase(unfinished);
  const flags = { run: SMALL, db: unfinished, out: folder, limit: '80' };
  await runBench(loadBenchConfig({ flags, environment: {}, workingFolder: folder }));
  renameSync(unfinished, db);
  return db;
}

/**
 * Makes a database with two long runs in a folder, unless it is there: copies of the turns of a small run, each copy with other user
 * and item ids. @param turns the least number of turns
 */
export async function makeLongRuns(folder: string, turns: number): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const path = resolve(folder, `${turns}.sqlite`);
  if (existsSync(path)) return path;
  const from = await smallRun(folder);
  const unfinished = `${path}.part`;
  removeDatabase(unfinished);
  {
    using stored = openDatabase({ path: from, readOnly: true });
    const runs = new RunRepository(stored);
    const run = runs.findByName(SMALL)!;
    const results = runs.results(run.id)!;
    using target = openDatabase({ path: unfinished });
    target.query.run(sql`ATTACH ${from} AS source`);
    const targetRuns = new RunRepository(target);
    for (const copy of longRunNames) {
      const { id } = targetRuns.create({ ...run, name: copy });
      const { status, probes, finishedAt } = run;
      targetRuns.update(id, { status, probes, finishedAt, results });
      copyTurns(target, { from: run.id, to: id }, turns);
    }
    target.query.run(sql`INSERT INTO token_pieces SELECT * FROM source.token_pieces`);
  }
  renameSync(unfinished, path);
  return path;
}

function copyTurns(target: BenchDatabase, run: { readonly from: string; readonly to: string }, turns: number): void {
  const stored = target.query.get<{ readonly turns: number }>(
    sql`SELECT count(*) AS turns FROM source.turns WHERE run_id = ${run.from}`,
  );
  const columns = Object.values(getTableColumns(turnTable)).flatMap(({ name }) => (name === 'id' ? [] : [name]));
  const values = columns.map((column) => {
    if (column === 'run_id') return sql`${run.to}`;
    const isId = column === 'user_id' || column === 'item_id';
    return sql.raw(isId ? `stored.${column} || '~' || copy` : `stored.${column}`);
  });
  target.transaction(() =>
    target.query.run(sql`
      WITH RECURSIVE copies(copy) AS (VALUES (1) UNION ALL SELECT copy + 1 FROM copies LIMIT ${Math.ceil(turns / stored.turns)})
      INSERT INTO turns (${sql.raw(columns.join(', '))}) SELECT ${sql.join(values, sql.raw(', '))}
      FROM copies CROSS JOIN source.turns AS stored WHERE stored.run_id = ${run.from}`),
  );
}
