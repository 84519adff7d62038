/**
 * Tries the intervals and verdicts of the analysis on runs whose truth is known, and draws the tables of docs/statistics.md:
 * `npx tsx scripts/simulate-intervals.ts --write`. Every world is a line of --out; those that are there are not simulated again.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { crc32 } from 'node:zlib';
import { format, resolveConfig } from 'prettier';
import { BenchError } from '../src/base/bench-error.ts';
import { SeededRandom } from '../src/base/seeded-random.ts';
import { writeText } from '../src/data/write-lines.ts';
import { runScript, wholeNumber } from './run-script.ts';
import { type IntervalCell, intervalCells, type IntervalResult, tryIntervals } from './simulation/interval-cells.ts';
import { simulationTables } from './simulation/simulation-tables.ts';
import { tryVerdicts, type VerdictCell, verdictCells, type VerdictResult } from './simulation/verdict-cells.ts';

const DOCUMENT = fileURLToPath(new URL('../docs/statistics.md', import.meta.url));

/** A world and what came of it. */
interface Line<Cell, Result> {
  readonly cell: Cell;
  readonly trials: number;
  readonly result: Result;
}

/** Simulates the worlds that the file lacks, one line each. */
function simulated<Cell, Result>(
  cells: readonly Cell[],
  { file, trials, seed }: { readonly file: string; readonly trials: number; readonly seed: number },
  of: (cell: Cell, trials: number, random: SeededRandom) => Result,
): Line<Cell, Result>[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const known = new Map(lines.map((line) => [line.slice(0, line.indexOf(',"result"')), line]));
  return cells.map((cell) => {
    const key = JSON.stringify({ cell, trials, seed }).slice(0, -1);
    const found = known.get(key);
    if (found !== undefined) return JSON.parse(found) as Line<Cell, Result>;
    const result = of(cell, trials, new SeededRandom(seed ^ crc32(key)));
    const line = { cell, trials, seed, result };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    return line;
  });
}

/** The document with these tables between their comments. @throws BenchError `bad-data` if the comments of a table are missing */
async function withTables(document: string, tables: Readonly<Record<string, string>>): Promise<string> {
  let text = document;
  for (const [name, table] of Object.entries(tables)) {
    const [start, end] = [`<!-- table ${name} -->`, `<!-- end ${name} -->`];
    const [before, between] = text.split(start);
    const after = between?.split(end)[1];
    if (after === undefined)
      throw new BenchError('bad-data', `docs/statistics.md: no ${start} … ${end}`, 'put both in');
    text = `${before!}${start}\n\n${table}\n\n${end}${after}`;
  }
  return format(text, { ...(await resolveConfig(DOCUMENT)), parser: 'markdown' });
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      trials: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '7' },
      out: { type: 'string', default: 'reports/simulated-intervals.jsonl' },
      write: { type: 'boolean', default: false },
    },
  });
  const settings = {
    file: resolve(values.out),
    trials: wholeNumber('trials', values.trials, 1),
    seed: wholeNumber('seed', values.seed, 0),
  };
  const intervals = simulated<IntervalCell, IntervalResult>(intervalCells, settings, tryIntervals);
  // A run of four arms takes several times as long as a sample.
  const fewer = { ...settings, trials: Math.ceil(settings.trials / 2) };
  const verdicts = simulated<VerdictCell, VerdictResult>(verdictCells, fewer, tryVerdicts);
  const tables = simulationTables(intervals, verdicts);
  if (values.write) await writeText(DOCUMENT, await withTables(readFileSync(DOCUMENT, 'utf8'), tables));
  else console.log(Object.values(tables).join('\n\n'));
});
