import { z } from 'zod';
import type { TurnListFilter } from '../store/turn-list-repository.ts';
import { BenchError } from '../base/bench-error.ts';
import { checkNames } from '../store/records/run-results.ts';
import { cacheStates, funnelStages, wrongClasses } from '../store/records/turn-record.ts';

const name = z.string({ error: 'is missing' }).min(1, 'is empty').max(500, 'has more than 500 characters');
const optionalName = name.exactOptional();
const text = z.string().max(200, 'has more than 200 characters').exactOptional();
const wholeNumber = (pattern: RegExp, least: 0 | 1) =>
  z.string({ error: 'is missing' }).regex(pattern, `is not a whole number, ${least} or more`).transform(Number);
const number = wholeNumber(/^\d{1,9}$/, 0);
const positive = wholeNumber(/^[1-9]\d{0,14}$/, 1).exactOptional();
const ticked = z
  .literal('1', { error: 'is not 1' })
  .transform((): true => true)
  .exactOptional();
const oneOf = <Name extends string>(names: readonly Name[]) =>
  z.enum(names, { error: `is not one of ${names.join(', ')}` }).exactOptional();

const run = z.object({ run: name });
const turn = run.extend({ item: name, arm: name, repeat: number, turn: number });

const filter = run.extend({
  arm: optionalName,
  answer: oneOf(['right', 'wrong']),
  wrong: optionalName,
  right: optionalName,
  disagreeing: ticked,
  category: optionalName,
  wrongClass: oneOf(wrongClasses),
  stage: oneOf(funnelStages),
  cache: oneOf(cacheStates),
  check: oneOf(checkNames),
  truncated: ticked,
  failed: ticked,
  text,
});

/** The query parameters that each address of the viewer takes. */
export const queryParameters = {
  runs: z.object({ text, page: positive }),
  run,
  matrix: filter.extend({ page: positive }),
  table: run.extend({ table: name }),
  figure: run.extend({ figure: name }),
  item: run.extend({ item: name }),
  turn: turn.extend({ against: optionalName }),
  compare: z.object({ a: name, b: name, armA: optionalName, armB: optionalName, page: positive, force: ticked }),
} as const;

/** Reads the query parameters of an address; ignores empty and unknown ones. @throws BenchError `bad-option` */
export function parseParameters<Schema extends z.ZodType>(schema: Schema, values: URLSearchParams): z.output<Schema> {
  const given = Object.fromEntries([...values].filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = String(issue!.path[0]);
  const shown = given[key] === undefined ? key : `${key}=${JSON.stringify(given[key].slice(0, 60))}`;
  throw new BenchError('bad-option', `${shown} ${issue!.message}`, 'follow a link from the list of runs');
}

/** The runs to compare, and their arms; an arm that is not named is chosen among those that both runs have. */
export type ComparisonQuery = z.output<typeof queryParameters.compare>;

/** Identifies a turn of a run. `turn` is its number within its session, from 0. */
export type TurnRef = Readonly<Omit<z.output<typeof queryParameters.turn>, 'against'>>;

/** Filter and page of the list of runs. `text` is searched in name, suite, status, model and data. */
export type RunsQuery = Readonly<z.output<typeof queryParameters.runs>>;

/** Filter and page of the matrix of items and arms, which has the items with a turn that passes the filter. */
export type MatrixQuery = TurnListFilter & { readonly page?: number };

export type ArmRef = Readonly<Record<'run' | 'arm', string>>;

/** A run, and perhaps one of its arms. */
type RunRef = Pick<ArmRef, 'run'> & Partial<ArmRef>;

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
  compare: (a: RunRef, b: RunRef, options: { readonly page?: number; readonly force?: true } = {}) =>
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
