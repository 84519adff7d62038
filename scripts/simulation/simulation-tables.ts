import { markdownTable } from '../run-script.ts';
import { type IntervalCell, type IntervalResult, methods } from './interval-cells.ts';
import { MARGIN, type VerdictCell, type VerdictResult } from './verdict-cells.ts';

export interface Simulated<Cell, Result> {
  readonly cell: Cell;
  readonly result: Result;
}

const percent = (share: number): string => (100 * share).toFixed(1);

const userCounts = (all: readonly Simulated<{ readonly users: number }, unknown>[]): Set<number> =>
  new Set(all.map(({ cell }) => cell.users));

const NAMES = { binary: 'right or wrong', score: 'score', normal: 'normal', time: 'time' } as const;

/** Least coverage over the worlds of one kind and number of users, by method. */
function leastCoverage(all: readonly Simulated<IntervalCell, IntervalResult>[]): string {
  const rows = Object.entries(NAMES).flatMap(([kind, name]) =>
    Array.from(userCounts(all), (users) => {
      const here = all.filter(({ cell }) => cell.kind === kind && cell.users === users);
      const least = (method: string): string => {
        const found = here.flatMap(({ result }) => result[method]?.coverage ?? []);
        return found.length === 0 ? '–' : percent(Math.min(...found));
      };
      return [name, String(users), ...methods.map(least)];
    }),
  );
  return markdownTable(['values', 'users', ...methods], rows);
}

/** Coverage of the chosen interval, world by world, with its mean width in points. */
function chosenCoverage(all: readonly Simulated<IntervalCell, IntervalResult>[]): string {
  const shown = [10, 20, 60];
  const shares = all.filter(({ cell }) => cell.kind === 'binary' && cell.items === 8 && shown.includes(cell.users));
  const worlds = Map.groupBy(shares, ({ cell }) => `${percent(cell.mean)} ${cell.correlation}`);
  const rows = Array.from(worlds, ([world, found]) => [
    ...world.split(' '),
    ...shown.map((users) => {
      const { coverage, width } = found.find(({ cell }) => cell.users === users)!.result['chosen']!;
      return `${percent(coverage)} (${percent(width)})`;
    }),
  ]);
  return markdownTable(['right, %', 'correlation', ...shown.map((users) => `${users} users`)], rows);
}

/** Verdicts by users: the largest error rates and the least coverage over the worlds, and how often the truth is found. */
function verdictRates(all: readonly Simulated<VerdictCell, VerdictResult>[]): string {
  const rows = Array.from(userCounts(all), (users) => {
    const here = all.filter(({ cell }) => cell.users === users);
    /** The values of a rate, by default over worlds of every loss. */
    const values = (name: keyof VerdictResult, loss?: number): number[] =>
      here.flatMap(({ cell, result }) => (loss === undefined || cell.loss === loss ? [result[name]] : []));
    const least = (...of: Parameters<typeof values>): string => percent(Math.min(...values(...of)));
    const most = (...of: Parameters<typeof values>): string => percent(Math.max(...values(...of)));
    return [
      String(users),
      least('coverage'),
      least('coverageOfT'),
      most('anyKept', MARGIN),
      most('anyKept', 0.05),
      most('anyLost', 0),
      `${least('kept', 0)} to ${most('kept', 0)}`,
      `${least('lost', 0.05)} to ${most('lost', 0.05)}`,
    ];
  });
  const rates = ['kept at −2', 'kept at −5', 'lost at 0', 'kept at 0, an arm', 'lost at −5, an arm'];
  return markdownTable(['users', 'coverage', 'of t', ...rates], rows);
}

/** Draws the tables of docs/statistics.md, by name. */
export function simulationTables(
  intervals: readonly Simulated<IntervalCell, IntervalResult>[],
  verdicts: readonly Simulated<VerdictCell, VerdictResult>[],
): Readonly<Record<string, () => string>> {
  return {
    intervals: () => leastCoverage(intervals),
    chosen: () => chosenCoverage(intervals),
    verdicts: () => verdictRates(verdicts),
  };
}
