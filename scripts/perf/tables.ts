/**
 * Measures time and memory of the tables of a long run: `npm run perf -- tables`. A small run of the main suite is made, its
 * turns are copied under other users and items until there are enough, and a separate process draws the tables from them.
 * It prints and never fails, since a busy machine slows it down.
 *
 *   npm run perf -- tables --turns 100000
 *   npm run perf -- tables --turns 1000000 --out build/tables    keeps the run for the next time: it takes 10 GB
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Sqlite from 'better-sqlite3';
import { runBench } from '../../src/bench/compose.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { openDatabase } from '../../src/store/database.ts';
import { resultsOfRuns } from '../../src/eval/analysis/stored-results.ts';
import { renderers } from '../../src/report/report-files.ts';
import { shownTables } from '../../src/report/tables/report-tables.ts';
import { npmScript } from '../npm-script.ts';
import { runScript, wholeNumber } from '../run-script.ts';

const RUN = 'tables';
/** Questions of the run that is copied. */
const QUESTIONS = '80';

interface Figures {
  readonly turns: number;
  readonly seconds: number;
  /** CPU time, which other processes slow down less. */
  readonly processorSeconds: number;
  readonly peakRssBytes: number;
}

/** Makes a run of that many turns or a few more, whole copies of a small one, where the folder has none. */
async function storeLongRun(folder: string, turns: number): Promise<string> {
  const db = join(folder, 'runs.sqlite');
  const whole = join(folder, `${turns}.sqlite`);
  if (existsSync(whole)) return whole;
  for (const end of ['', '-wal', '-shm']) rmSync(db + end, { force: true });
  const flags = { run: RUN, db, out: folder, limit: QUESTIONS };
  await runBench(loadBenchConfig({ flags, environment: {}, workingFolder: folder }));
  const client = new Sqlite(db);
  const columns = client
    .prepare(`SELECT name FROM pragma_table_info('turns') WHERE name NOT IN ('id', 'user_id', 'item_id')`)
    .pluck()
    .all()
    .join(', ');
  const made = client.prepare('SELECT count(*) FROM turns').pluck().get() as number;
  const last = client.prepare('SELECT max(id) FROM turns').pluck().get();
  const copy = client.prepare(
    `INSERT INTO turns (user_id, item_id, ${columns})
     SELECT user_id || @copy, item_id || @copy, ${columns} FROM turns WHERE id <= @last ORDER BY id`,
  );
  for (let copied = 1; copied * made < turns; copied++) copy.run({ copy: `-${copied}`, last });
  client.close();
  renameSync(db, whole);
  return whole;
}

/** Draws the tables of the run in this process. */
function drawTables(db: string): Figures {
  const start = performance.now();
  using database = openDatabase({ path: db });
  const runs = resultsOfRuns(database, RUN);
  runs.flatMap(shownTables).map(renderers.md);
  const turns = runs.reduce((sum, { arms }) => sum + arms.reduce((arm, { n }) => arm + n, 0), 0);
  const seconds = (performance.now() - start) / 1000;
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return { turns, seconds, processorSeconds: (userCPUTime + systemCPUTime) / 1e6, peakRssBytes: maxRSS * 1024 };
}

/** Draws the tables in a separate process, so that its memory can be measured. */
async function drawTablesApart(db: string): Promise<Figures | undefined> {
  const nodeOptions = npmScript('tables').filter((word) => word.startsWith('--'));
  const child = fork(fileURLToPath(import.meta.url), ['--draw', db], {
    execArgv: [...process.execArgv, ...nodeOptions],
  });
  let figures: Figures | undefined;
  child.on('message', (message) => (figures = message as Figures));
  await once(child, 'exit');
  return figures;
}

await runScript(async () => {
  const { values } = parseArgs({
    options: { turns: { type: 'string', default: '100000' }, out: { type: 'string' }, draw: { type: 'string' } },
  });
  if (values.draw !== undefined) {
    process.send!(drawTables(values.draw));
    return;
  }
  const turns = wholeNumber('turns', values.turns, 1);
  const folder = values.out ?? mkdtempSync(join(tmpdir(), 'dki-bench-tables-'));
  mkdirSync(folder, { recursive: true });
  try {
    const figures = await drawTablesApart(await storeLongRun(folder, turns));
    if (figures === undefined) return;
    const [wall, processor] = [figures.seconds.toFixed(1), figures.processorSeconds.toFixed(1)];
    const megabytes = (figures.peakRssBytes / 1e6).toFixed(0);
    console.log(
      `tables of ${figures.turns} turns: ${wall} s, of the processor ${processor} s; at most ${megabytes} MB resident`,
    );
  } finally {
    if (values.out === undefined) rmSync(folder, { recursive: true });
  }
});
