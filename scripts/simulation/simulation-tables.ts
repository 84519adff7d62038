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
        most('anyKept', MARGIN),
        most('anyLost', 0),
        `${least('kept', 0)}–${most('kept', 0)}`,
        `${least('lost', 0.05)}–${most('lost', 0.05)}`,
      ];
    },
  );
  const rates = ['wrongly kept', 'wrongly lost', 'kept, at 0', 'lost, at −5'];
  return markdownTable(['users', 'coverage', ...rates], rows);
}

/** Draws the tables of docs/statistics.md, by name. */
export function simulationTables(
  intervals: readonly Simulated<IntervalCell, IntervalResult>[],
  verdicts: readonly Simulated<VerdictCell, VerdictResult>[],
): Readonly<Record<string, () => string>> {
  return {
    intervals: () => leastCoverage(intervals),
    verdicts: () => verdictRates(verdicts),
  };
}
