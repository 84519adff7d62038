import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type PrintedTable, printTable } from '../run-script.ts';

/** Ratios of an earlier run of a measurement, in the repository. Times differ between machines, ratios of one run hardly. */
const baseline = z.object({ date: z.string(), cpu: z.string(), ratios: z.record(z.string(), z.number()) });
type Ratios = z.output<typeof baseline>['ratios'];

/** A ratio that changed by less is noise. */
const NOTEWORTHY = 1.1;

const isRatio = (heading: string): boolean => heading.startsWith('×') || heading === 'ratio';

/** The ratios in printed tables, by table, row and column. */
export function ratiosOf(tables: readonly PrintedTable[]): Ratios {
  const found = tables.flatMap(({ head, rows }, table) =>
    rows.flatMap((row) =>
      head.flatMap((heading, column) => {
        const value = Number(row[column]);
        return isRatio(heading) && value > 0 ? [[`${table + 1}: ${row[0]}, ${heading}`, value] as const] : [];
      }),
    ),
  );
  return Object.fromEntries(found);
}

/** What differs from the baseline by more than noise, largest first: name, then, now, now ÷ then. */
export function changedRatios(
  then: Ratios,
  now: Ratios,
): readonly (readonly [name: string, then: number, now: number])[] {
  const size = (one: number, other: number): number => Math.abs(Math.log(other / one));
  return Object.entries(now)
    .flatMap(([name, value]) => (then[name] === undefined ? [] : [[name, then[name], value] as const]))
    .filter(([, before, after]) => size(before, after) > Math.log(NOTEWORTHY))
    .toSorted(([, a, b], [, c, d]) => size(c, d) - size(a, b));
}

const folder = join(import.meta.dirname, 'baselines');
const fileOf = (name: string): string => join(folder, `${name}.json`);

export function saveBaseline(name: string, ratios: Ratios): void {
  const about = { date: new Date().toISOString().slice(0, 10), cpu: cpus()[0]?.model.trim() ?? 'unknown' };
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(name), `${JSON.stringify({ ...about, ratios }, null, 2)}\n`);
  console.log(`saved: ${fileOf(name)}`);
}

/** Prints how the ratios of this run differ from the baseline, if there is one. */
export function compareWithBaseline(name: string, ratios: Ratios): void {
  if (!existsSync(fileOf(name))) return;
  const { date, cpu, ratios: then } = baseline.parse(JSON.parse(readFileSync(fileOf(name), 'utf8')));
  const changed = changedRatios(then, ratios);
  const compared = Object.keys(ratios).filter((key) => key in then).length;
  console.log(`\n${changed.length} of ${compared} ratios differ by more than a tenth from those of ${date} (${cpu})`);
  if (changed.length === 0) return;
  const cells = changed.map(([key, before, after]) => [key, before, after, (after / before).toFixed(2)]);
  printTable(['table: row, ratio', 'then', 'now', 'now ÷ then'], cells);
}
