import { MIN_USERS } from '../../src/eval/analysis/statistics/verdict.ts';
import { markdownTable } from '../run-script.ts';
import { type IntervalCell, type IntervalResult, methods } from './interval-cells.ts';
import { MARGIN, type VerdictCell, type VerdictResult } from './verdict-cells.ts';

export interface Simulated<Cell, Result> {
  readonly cell: Cell;
  readonly result: Result;
}

const percent = (share: number): string => (100 * share).toFixed(1);

const NAMES = { binary: 'right or wrong', score: 'score', normal: 'normal', time: 'time' } as const;

/** Least coverage over the worlds of one kind, by method, and of the chosen interval also with fewer users than verdicts need. */
function leastCoverage(all: readonly Simulated<IntervalCell, IntervalResult>[]): string {
  const rows = Object.entries(NAMES).map(([kind, name]) => {
    const least = (method: string, isShown: (users: number) => boolean): string => {
      const here = all.filter(({ cell }) => cell.kind === kind && isShown(cell.users));
      const found = here.flatMap(({ result }) => result[method]?.coverage ?? []);
      return found.length === 0 ? '–' : percent(Math.min(...found));
    };
    const many = methods.map((method) => least(method, (users) => users >= MIN_USERS));
    return [name, ...many, least('chosen', (users) => users < MIN_USERS)];
  });
  return markdownTable(['values', ...methods, `chosen, fewer than ${MIN_USERS} users`], rows);
}

/** Coverage of the chosen interval where items correlate as in our data, with its mean width in points. */
function chosenCoverage(all: readonly Simulated<IntervalCell, IntervalResult>[]): string {
  const shown = [10, 20, 60];
  const shares = all.filter(({ cell }) => cell.kind === 'binary' && cell.items === 8 && cell.correlation === 0.1);
  const rows = Array.from(
    Map.groupBy(shares, ({ cell }) => cell.mean),
    ([mean, found]) => [
      percent(mean),
      ...shown.map((users) => {
        const { coverage, width } = found.find(({ cell }) => cell.users === users)!.result['chosen']!;
        return `${percent(coverage)} (${percent(width)})`;
      }),
    ],
  );
  return markdownTable(['right, %', ...shown.map((users) => `${users} users`)], rows);
}

/** Verdicts by users: the largest error rates and the least coverage over the worlds, and how often the truth is found. */
function verdictRates(all: readonly Simulated<VerdictCell, VerdictResult>[]): string {
  const rows = Array.from(
    Map.groupBy(all, ({ cell }) => cell.users),
    ([users, here]) => {
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
    },
  );
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
