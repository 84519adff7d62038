import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import type { TurnSort } from '../../store/turn-list-repository.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import type { RunResults } from '../../store/records/results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/run-metrics.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { Figure } from '../../render/figure.ts';
import { reportFigures } from '../../report/figures/report-figures.ts';
import { comparisonsTables } from '../../report/tables/comparisons-table.ts';
import { reportTables } from '../../report/tables/report-tables.ts';
import type { Table } from '../../render/table.ts';
import { type HiddenTexts, hiddenInReports, rowWithoutTexts } from '../hidden-texts.ts';
import { runNamed, unknownName, usualPair } from '../find-run.ts';
import type { ItemQuery } from '../links.ts';
import { filterValues } from './turn-filters.ts';
import type { ItemList } from './item-list.ts';

/** Rows of a page of the list. */
const pageSize = 50;

/** The content of the page of a run. */
export interface RunPage {
  readonly name: string;
  readonly suite: string;
  readonly status: RunRecord['status'];
  readonly seed: number;
  readonly startedAt: string;
  readonly model: string;
  readonly dataset: string;
  /** Stored when the run ended; null before. */
  readonly results: RunResults | null;
  readonly items: ItemList;
  /** The arms that the form for comparisons proposes. */
  readonly usualPair: readonly [a: string | undefined, b: string | undefined];
}

/** Reads the page of a run. @param hidden by default the rule of reports @throws BenchError `not-found` for an unknown name */
export function readRunPage(
  database: BenchDatabase,
  name: string,
  query: ItemQuery,
  hidden: HiddenTexts = hiddenInReports,
): RunPage {
  const run = runNamed(database, name);
  const items = readItems(database, run, query, hidden(run));
  return {
    name: run.name,
    suite: run.suite,
    status: run.status,
    seed: run.seed,
    startedAt: new Date(run.startedAt).toISOString(),
    model: run.model.name,
    dataset: run.dataset.name,
    results: new RunRepository(database).results(run.id),
    items,
    usualPair: usualPair(run.plan.arms, items.values.arms),
  };
}

function readItems(database: BenchDatabase, run: RunRecord, asked: ItemQuery, hiddenTexts: string | null): ItemList {
  const { primary } = metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] });
  // Its column is that of the primary metric.
  const query = asked.sort === primary.name ? { ...asked, sort: 'primaryValue' } : asked;
  const turns = new TurnListRepository(database);
  const values = filterValues(database, run, query);
  const { sort, descending, after, before, at: _at, ...filter } = query;
  const quality = unknownQuality(run.model);
  const page = turns.page(run.id, filter, { sort: sort as TurnSort, descending }, { after, before }, pageSize);
  return {
    run: run.name,
    query,
    values,
    primary,
    unknownQuality: quality,
    hiddenTexts,
    page: hiddenTexts === null ? page : { ...page, rows: page.rows.map(rowWithoutTexts) },
  };
}

/** All tables of a run, those on its page included. */
export function allTables(results: RunResults): Table[] {
  return [...reportTables(results).values(), ...comparisonsTables(results)];
}

/** Reads a table of a run. @throws BenchError `not-found` */
export function readTable(database: BenchDatabase, name: string, id: string): Table {
  const results = new RunRepository(database).results(runNamed(database, name).id);
  const tables = results === null ? [] : allTables(results);
  const table = tables.find((candidate) => candidate.id === id);
  if (table !== undefined) return table;
  throw unknownName(
    `run "${name}" has no table`,
    id,
    tables.map((candidate) => candidate.id),
  );
}

/** Reads a figure of a run. @throws BenchError `not-found` */
export function readFigure(database: BenchDatabase, name: string, id: string): Figure {
  const results = new RunRepository(database).results(runNamed(database, name).id);
  const figures = results === null ? [] : reportFigures(results);
  const figure = figures.find((candidate) => candidate.id === id);
  if (figure !== undefined) return figure;
  throw unknownName(
    `run "${name}" has no figure`,
    id,
    figures.map((candidate) => candidate.id),
  );
}
