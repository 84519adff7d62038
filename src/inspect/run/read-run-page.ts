import type { BenchDatabase } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import type { TurnSort } from '../../db/turn-list-order.ts';
import { TurnListRepository } from '../../db/turn-list-repository.ts';
import type { RunResults } from '../../eval/results.ts';
import { unknownQuality } from '../../eval/unknown-quality.ts';
import type { Figure } from '../../report/figures/figure.ts';
import { reportFigures } from '../../report/figures/report-figures.ts';
import { comparisonsTables } from '../../report/tables/comparisons-table.ts';
import { reportTables } from '../../report/tables/report-tables.ts';
import type { Table } from '../../report/table.ts';
import { armsOf, runNamed, unknownName } from '../find-run.ts';
import type { ItemQuery } from '../links.ts';
import type { ItemList } from './item-list.ts';

/** Rows of a page of the list. */
const pageSize = 50;

/** What the page of a run shows. */
export interface RunPage {
  readonly name: string;
  readonly suite: string;
  readonly status: RunRow['status'];
  readonly seed: number;
  readonly startedAt: string;
  readonly model: string;
  readonly dataset: string;
  /** As they were stored when the run ended; null before. */
  readonly results: RunResults | null;
  readonly items: ItemList;
}

const nameOf = (part: unknown): string => (part as { readonly name: string } | null)?.name ?? 'unknown';

/** Reads the page of a run. @throws BenchError `not-found` for a name that is not there */
export function readRunPage(database: BenchDatabase, name: string, query: ItemQuery): RunPage {
  const run = runNamed(database, name);
  return {
    name: run.name,
    suite: run.suite,
    status: run.status,
    seed: run.seed,
    startedAt: new Date(run.startedAt).toISOString(),
    model: nameOf(run.model),
    dataset: nameOf(run.dataset),
    results: run.results as RunResults | null,
    items: readItems(database, run, query),
  };
}

function readItems(database: BenchDatabase, run: RunRow, query: ItemQuery): ItemList {
  const turns = new TurnListRepository(database);
  const categories = turns.categories(run.id);
  if (query.category !== undefined && !categories.includes(query.category)) {
    throw unknownName(`run "${run.name}" has no category`, query.category, categories);
  }
  const { sort, descending, after, before, at: _at, ...filter } = query;
  const quality = unknownQuality({ name: nameOf(run.model) });
  return {
    run: run.name,
    query,
    arms: armsOf(database, run, query.arm),
    categories,
    unknownQuality: quality,
    page: turns.page(run.id, filter, { sort: sort as TurnSort, descending }, { after, before }, pageSize),
  };
}

/** All tables of a run by id, those that its page shows among them. */
export function allTables(results: RunResults): Table[] {
  return [...reportTables(results).values(), ...comparisonsTables(results)];
}

/** A table that the page of a run leaves out. @throws BenchError `not-found` */
export function readTable(database: BenchDatabase, name: string, id: string): Table {
  const { results } = runNamed(database, name);
  const tables = results === null ? [] : allTables(results as RunResults);
  const table = tables.find((candidate) => candidate.id === id);
  if (table !== undefined) return table;
  throw unknownName(
    `run "${name}" has no table`,
    id,
    tables.map((candidate) => candidate.id),
  );
}

/** A figure of a run. @throws BenchError `not-found` */
export function readFigure(database: BenchDatabase, name: string, id: string): Figure {
  const { results } = runNamed(database, name);
  const figures = results === null ? [] : reportFigures(results as RunResults);
  const figure = figures.find((candidate) => candidate.id === id);
  if (figure !== undefined) return figure;
  throw unknownName(
    `run "${name}" has no figure`,
    id,
    figures.map((candidate) => candidate.id),
  );
}
