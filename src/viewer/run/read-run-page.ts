import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { TurnListRepository, type TurnSort } from '../../store/turn-list-repository.ts';
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

/** Turns of a page of the list. */
const pageSize = 50;

/** Reads the page of a run. @param hidden by default the rule of reports @throws BenchError `not-found` for an unknown name */
export function readRunPage(
  database: BenchDatabase,
  name: string,
  query: ItemQuery,
  hidden: HiddenTexts = hiddenInReports,
) {
  const run = runNamed(database, name);
  const items = readItems(database, run, query, hidden(run));
  const results = new RunRepository(database).results(run.id);
  return { run, results, items, usualPair: usualPair(run.plan.arms, items.values.arms) };
}

/** The content of the page of a run; `results` is null before it has ended, `usualPair` is what its form proposes to compare. */
export type RunPage = ReturnType<typeof readRunPage>;

function readItems(database: BenchDatabase, run: RunRecord, wanted: ItemQuery, hiddenTexts: string | null) {
  const { primary } = metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] });
  // Its column is that of the primary metric.
  const query = wanted.sort === primary.name ? { ...wanted, sort: 'primaryValue' } : wanted;
  const turns = new TurnListRepository(database);
  const values = filterValues(database, run, query);
  const { sort, descending, after, before, at: _at, ...filter } = query;
  const quality = unknownQuality(run.model);
  const page = turns.page(run.id, { filter, sort: sort as TurnSort, descending, after, before, size: pageSize });
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

/** A page of the turns of a run; `unknownQuality` and `hiddenTexts` say why scores or texts are not shown, or are null. */
export type ItemList = ReturnType<typeof readItems>;

/** All tables of a run, those on its page included. */
export function allTables(results: RunResults): Table[] {
  return [...reportTables(results).values(), ...comparisonsTables(results)];
}

/** Finds a table or a figure of a run by its id. @throws BenchError `not-found` */
function findDrawing<Drawing extends { readonly id: string }>(
  { database, name, what, id }: Readonly<Record<'name' | 'what' | 'id', string>> & { readonly database: BenchDatabase },
  draw: (results: RunResults) => readonly Drawing[],
): Drawing {
  const results = new RunRepository(database).results(runNamed(database, name).id);
  const drawings = results === null ? [] : draw(results);
  const found = drawings.find((one) => one.id === id);
  if (found !== undefined) return found;
  throw unknownName(`run "${name}" has no ${what}`, id, drawings.map((one) => one.id)); // prettier-ignore
}

/** Reads a table of a run. @throws BenchError `not-found` */
export const readTable = (database: BenchDatabase, name: string, id: string): Table =>
  findDrawing({ database, name, what: 'table', id }, allTables);

/** Reads a figure of a run. @throws BenchError `not-found` */
export const readFigure = (database: BenchDatabase, name: string, id: string): Figure =>
  findDrawing({ database, name, what: 'figure', id }, reportFigures);
