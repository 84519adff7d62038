import type { BenchDatabase } from '../../store/database.ts';
import { ItemOutcomesRepository, type TurnOutcome } from '../../store/item-outcomes-repository.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { runNamed } from '../find-run.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';
import type { MatrixQuery } from '../links.ts';
import { filterValues } from '../run/filter-values.ts';
import type { FilterValues } from '../run/turn-filters.ts';

/** Cells of a page, so that wide matrices are no larger than narrow ones. */
const mostCells = 500;
const mostRows = 50;
const leastRows = 10;
const mostRowsOfFile = 250;

/** An item with the turns of each arm. */
export interface MatrixRow {
  readonly itemId: string;
  /** Null where no arm answered. */
  readonly question: string | null;
  readonly gold: string | null;
  readonly turns: ReadonlyMap<string, readonly TurnOutcome[]>;
}

/** A page of the matrix of items and arms. */
export interface MatrixPage {
  readonly run: string;
  readonly query: MatrixQuery;
  readonly values: FilterValues;
  /** In the order of the run. */
  readonly arms: readonly string[];
  readonly rows: readonly MatrixRow[];
  /** Place of the first row among the items that match, from 1. */
  readonly first: number;
  /** Items that match. */
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
  readonly unknownQuality: string | null;
  /** Why it has no texts; null where it has. */
  readonly hiddenTexts: string | null;
}

/** The arms that have turns, in the order of the run. */
function armsInOrder({ plan }: RunRecord, having: readonly string[]): string[] {
  const planned = plan.arms.map(({ name }) => name).filter((name) => having.includes(name));
  return [...planned, ...having.filter((name) => !planned.includes(name))];
}

/** An item with its turns by arm. @param hidden its texts are not shown */
export function rowOf(itemId: string, turns: readonly TurnOutcome[], hidden: boolean): MatrixRow {
  const known = turns.find(({ question }) => question !== null);
  const shown = hidden
    ? turns.map((turn) => ({ ...turn, question: '', answer: '', error: turn.error && 'failed' }))
    : turns;
  return {
    itemId,
    question: hidden ? '' : (known?.question ?? null),
    gold: hidden ? '' : (known?.gold ?? null),
    turns: Map.groupBy(shown, ({ arm }) => arm),
  };
}

/**
 * Reads a page of the matrix.
 *
 * @param options.hidden by default the rule of reports
 * @param options.inFile a page has as many items as a file takes
 * @throws BenchError `not-found` for an unknown name
 */
export function readMatrix(
  database: BenchDatabase,
  name: string,
  query: MatrixQuery,
  {
    hidden = hiddenInReports,
    inFile = false,
  }: { readonly hidden?: HiddenTexts | undefined; readonly inFile?: boolean } = {},
): MatrixPage {
  const run = runNamed(database, name);
  const values = filterValues(database, run, query);
  const { page: wanted = 1, ...filter } = query;
  const items = new ItemOutcomesRepository(database).items(run.id, filter);
  const arms = armsInOrder(run, values.arms);
  const size = inFile ? mostRowsOfFile : Math.max(leastRows, Math.min(mostRows, Math.floor(mostCells / arms.length)));
  const pages = Math.max(1, Math.ceil(items.length / size));
  const page = Math.min(wanted, pages);
  const first = (page - 1) * size;
  const shown = items.slice(first, first + size);
  const turns = Map.groupBy(new ItemOutcomesRepository(database).outcomes(run.id, shown), ({ itemId }) => itemId);
  const hiddenTexts = hidden(run);
  return {
    run: run.name,
    query,
    values,
    arms,
    page,
    pages,
    hiddenTexts,
    rows: shown.map((itemId) => rowOf(itemId, turns.get(itemId) ?? [], hiddenTexts !== null)),
    first: first + 1,
    matching: items.length,
    unknownQuality: unknownQuality(run.model),
  };
}
