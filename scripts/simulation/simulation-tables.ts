import { markdownTable } from '../run-script.ts';
import { type IntervalCell, type IntervalResult, methods } from './interval-cells.ts';
import { MARGIN, type VerdictCell, type VerdictResult } from './verdict-cells.ts';

/** A simulated world and its result. */
export interface Simulated<Cell, Result> {
  readonly cell: Cell;
  readonly result: Result;
}

const percent = (share: number): string => (100 * share).toFixed(1);

const userCounts = <Result>(all: readonly Simulated<{ readonly users: number }, Result>[]): number[] => [
  ...new Set(all.map(({ cell }) => cell.users)),
];

const NAMES = { binary: 'right or wrong', score: 'score', normal: 'normal', time: 'time' } as const;

/** Least coverage over the worlds of one kind and number of users, by method. */
function leastCoverage(all: readonly Simulated<IntervalCell, IntervalResult>[]): string {
  const rows = Object.entries(NAMES).flatMap(([kind, name]) =>
    userCounts(all).map((users) => {
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
  const worlds = [...new Set(shares.map(({ cell }) => `${percent(cell.mean)} ${cell.correlation}`))];
  const rows = worlds.map((world) => [
    ...world.split(' '),
    ...shown.map((users) => {
      const { result } = shares.find(
        ({ cell }) => `${percent(cell.mean)} ${cell.correlation}` === world && cell.users === users,
      )!;
      const { coverage, width } = result['chosen']!;
      return `${percent(coverage)} (${percent(width)})`;
    }),
  ]);
  return markdownTable(['right, %', 'correlation', ...shown.map((users) => `${users} users`)], rows);
}

/** Verdicts by users: the largest error rates and the least coverage over the worlds, and how often the truth is found. */
function verdictRates(all: readonly Simulated<VerdictCell, VerdictResult>[]): string {
  const rows = userCounts(all).map((users) => {
    const here = all.filter(({ cell }) => cell.users === users);
    const at = (loss: number): VerdictResult[] =>
      here.flatMap(({ cell, result }) => (cell.loss === loss ? [result] : []));
    const most = (results: readonly VerdictResult[], name: keyof VerdictResult): string =>
      percent(Math.max(...results.map((result) => result[name])));
    const least = (results: readonly VerdictResult[], name: keyof VerdictResult): string =>
      percent(Math.min(...results.map((result) => result[name])));
    const everywhere = here.map(({ result }) => result);
    return [
      String(users),
      least(everywhere, 'coverage'),
      least(everywhere, 'coverageOfT'),
      most(at(MARGIN), 'anyKept'),
      most(at(0.05), 'anyKept'),
      most(at(0), 'anyLost'),
      `${least(at(0), 'kept')} to ${most(at(0), 'kept')}`,
      `${least(at(0.05), 'lost')} to ${most(at(0.05), 'lost')}`,
    ];
  });
  const head = [
    'users',
    'coverage',
    'of t',
    'kept at −2',
    'kept at −5',
    'lost at 0',
    'kept at 0, an arm',
    'lost at −5, an arm',
  ];
  return markdownTable(head, rows);
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
