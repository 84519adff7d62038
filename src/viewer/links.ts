import type { z } from 'zod';
import type { TurnListFilter } from '../store/turn-list-repository.ts';
import type { queryParameters } from './query-parameters.ts';

/** Identifies a turn of a run. `turn` is its number within its session, from 0. */
export type TurnRef = Readonly<Omit<z.output<typeof queryParameters.turn>, 'against'>>;

/** Filter and page of the list of runs. `text` is searched in name, suite, status, model and data. */
export type RunsQuery = Readonly<z.output<typeof queryParameters.runs>>;

/** Filter and page of the matrix of items and arms, which has the items with a turn that passes the filter. */
export interface MatrixQuery extends TurnListFilter {
  readonly page?: number;
}

export interface ArmRef {
  readonly run: string;
  readonly arm: string;
}

/** An address with a fixed path: names from data appear in the query only. */
function address(path: string, values: Readonly<Record<string, string | number | true | undefined>>): string {
  const given = Object.entries(values).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value === true ? '1' : String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

export const serverLinks = {
  /** True if a server answers requests; an export has no forms. */
  answered: true as boolean,
  runs: (query: RunsQuery = {}) => address('/', { ...query }),
  run: (run: string, query: MatrixQuery = {}) => address('/run', { run, ...query }),
  watch: (run: string) => address('/watch', { run }),
  table: (run: string, table: string) => address('/table', { run, table }),
  figure: (run: string, figure: string) => address('/figure.svg', { run, figure }),
  item: (run: string, item: string) => address('/item', { run, item }),
  /** @param against the arm whose sequence is compared with the turn's */
  turn: (turn: TurnRef, against?: string) => address('/turn', { ...turn, against }),
  turnJson: (turn: TurnRef) => address('/turn.json', { ...turn }),
  /** @param options.force compares runs even if their data or models differ */
  compare: (a: ArmRef, b: ArmRef, options: { readonly page?: number; readonly force?: true } = {}) =>
    address('/compare', { a: a.run, armA: a.arm, b: b.run, armB: b.arm, ...options }),
  style: () => '/style.css',
  script: () => '/viewer.js',
};

export type Links = Readonly<typeof serverLinks>;

/** Links in a viewer of reports, which have outcomes of turns but not the turns: links to turns lead to their item. */
export const reportLinks: Links = {
  ...serverLinks,
  turn: ({ run, item }) => serverLinks.item(run, item),
};
