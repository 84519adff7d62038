import type { TurnListFilter } from '../store/turn-list-repository.ts';

/** One turn of a run: of an item by an arm. */
export interface TurnRef {
  readonly run: string;
  readonly item: string;
  readonly arm: string;
  readonly repeat: number;
  /** Number of the turn within its session, from 0. */
  readonly turn: number;
}

/** One side of a comparison. */
export interface ArmRef {
  readonly run: string;
  readonly arm: string;
}

/** Filter and page of the list of runs. */
export interface RunsQuery {
  /** A part of name, suite, model or data. */
  readonly text?: string;
  /** From 1. */
  readonly page?: number;
}

/** Filter and page of the matrix of items and arms: items of which a turn passes. */
export interface MatrixQuery extends TurnListFilter {
  /** From 1. */
  readonly page?: number;
}

/** Filter, order and page of the list of a run's turns; all turns by default. */
export interface ItemQuery extends TurnListFilter {
  /** A column of the list; by default the order of writing. */
  readonly sort?: string;
  /** Largest value first; by default the smallest. */
  readonly descending?: true;
  /** The page that follows this turn, by its id in the database. */
  readonly after?: number;
  /** The page that ends before this turn. */
  readonly before?: number;
  /** Number of turns before the page, as the link to it counted them. */
  readonly at?: number;
}

/** Links between pages: addresses of the server (`serverLinks`), or files of an export. */
export interface Links {
  /** True if forms can be sent, as they can to a server and not in an export. */
  readonly answered: boolean;
  /** True if turns have pages of their own; those of a report have not, and lead to the page of their item. */
  readonly opensTurns: boolean;
  runs(query?: RunsQuery): string;
  run(run: string, query?: ItemQuery): string;
  /** How far the run has come. */
  watch(run: string): string;
  matrix(run: string, query?: MatrixQuery): string;
  /** A table that the page of the run leaves out, by its id. */
  table(run: string, table: string): string;
  /** A figure as a picture, by its id. */
  figure(run: string, figure: string): string;
  item(run: string, item: string): string;
  /** @param options.against the arm whose sequence is compared with the turn's */
  turn(turn: TurnRef, options?: { readonly against?: string }): string;
  turnJson(turn: TurnRef): string;
  /** A turn side by side with that of another arm on the same item. */
  pair(turn: TurnRef, other: string): string;
  /** @param options.force compares runs of different data or models, too */
  compare(a: ArmRef, b: ArmRef, options?: { readonly page?: number; readonly force?: true }): string;
  style(): string;
  script(): string;
}

/** An address with a fixed path: names from data appear in the query only. */
function address(path: string, values: Readonly<Record<string, string | number | true | undefined>>): string {
  const given = Object.entries(values).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value === true ? '1' : String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** Addresses of the viewer's server. */
export const serverLinks: Links = {
  answered: true,
  opensTurns: true,
  runs: (query = {}) => address('/', { ...query }),
  run: (run, query = {}) => address('/run', { run, ...query }),
  watch: (run) => address('/watch', { run }),
  matrix: (run, query = {}) => address('/matrix', { run, ...query }),
  table: (run, table) => address('/table', { run, table }),
  figure: (run, figure) => address('/figure.svg', { run, figure }),
  item: (run, item) => address('/item', { run, item }),
  turn: (turn, { against } = {}) => address('/turn', { ...turn, against }),
  turnJson: (turn) => address('/turn.json', { ...turn }),
  pair: (turn, other) => address('/pair', { ...turn, other }),
  compare: (a, b, { page, force } = {}) =>
    address('/compare', { a: a.run, armA: a.arm, b: b.run, armB: b.arm, page, force }),
  style: () => '/style.css',
  script: () => '/viewer.js',
};

/** Addresses of a viewer of reports, which hold the outcomes of turns but no turns. */
export const reportLinks: Links = {
  ...serverLinks,
  opensTurns: false,
  turn: ({ run, item }) => serverLinks.item(run, item),
};
