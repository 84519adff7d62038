/**
 * Tries the intervals and verdicts of the analysis on runs whose truth is known, and draws the tables of docs/statistics.md:
 * `npx tsx scripts/simulate-intervals.ts --write`. --out gets a line for each simulated world, and is reused.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { SeededRandom } from '../src/base/seeded-random.ts';
import { writeText } from '../src/data/write-lines.ts';
import { replaceTables } from './readme-tables.ts';
import { readOptions, runScript, wholeNumbers } from './run-script.ts';
import { type IntervalCell, intervalCells, type IntervalResult, tryIntervals } from './simulation/interval-cells.ts';
import { type Simulated, simulationTables } from './simulation/simulation-tables.ts';
import { tryVerdicts, type VerdictCell, verdictCells, type VerdictResult } from './simulation/verdict-cells.ts';

const DOCUMENT = 'docs/statistics.md';

/** Simulates the worlds that are not in the file, which gets one line for each. */
function simulate<Cell, Result>(
  cells: readonly Cell[],
  { file, trials, seed }: { readonly file: string; readonly trials: number; readonly seed: number },
  run: (cell: Cell, trials: number, random: SeededRandom) => Result,
): Simulated<Cell, Result>[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const known = new Map(lines.map((line) => [line.slice(0, line.indexOf(',"result"')), line]));
  return cells.map((cell) => {
    const key = JSON.stringify({ cell, trials, seed }).slice(0, -1);
    const found = known.get(key);
    if (found !== undefined) return JSON.parse(found) as Simulated<Cell, Result>;
    const result = run(cell, trials, new SeededRandom(seed ^ crc32(key)));
    const line = { cell, trials, seed, result };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    return line;
  });
}

await runScript(async () => {
  const defaults = { trials: '1000', seed: '7', out: 'reports/simulated-intervals.jsonl', write: false } as const;
  const values = readOptions(defaults);
  const settings = { file: resolve(values.out), ...wholeNumbers(values, { trials: 1, seed: 0 }) };
  const intervals = simulate<IntervalCell, IntervalResult>(intervalCells, settings, tryIntervals);
  // A run of four arms takes several times as long as a sample.
  const fewer = { ...settings, trials: Math.ceil(settings.trials / 2) };
  const verdicts = simulate<VerdictCell, VerdictResult>(verdictCells, fewer, tryVerdicts);
  const tables = simulationTables(intervals, verdicts);
  const file = resolve(import.meta.dirname, '..', DOCUMENT);
  const drawn = Object.values(tables).map((draw) => draw());
  if (values.write) await writeText(file, await replaceTables(DOCUMENT, readFileSync(file, 'utf8'), tables));
  else console.log(drawn.join('\n\n'));
});
