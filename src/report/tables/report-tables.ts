import { BenchError } from '../../base/bench-error.ts';
import type { RunResults } from '../../store/records/results.ts';
import { namesItsMetric } from '../shown-metric.ts';
import type { Table } from '../../render/table.ts';
import { ablationTable } from './ablation-table.ts';
import { alphaTable } from './alpha-table.ts';
import { tableBreakdown } from './breakdown-table.ts';
import { byRetrievalTable } from './by-retrieval-table.ts';
import { categoryTable } from './category-table.ts';
import { claimsTable } from './claims-table.ts';
import { coherenceTable } from './coherence-table.ts';
import { contextTable } from './context-table.ts';
import { coreferenceTable } from './coreference-table.ts';
import { judgeTable } from './judge-table.ts';
import { latencyTable } from './latency-table.ts';
import { leakTable } from './leak-table.ts';
import { recallScalingTable, latencyScalingTable } from './scaling-tables.ts';
import { methodsByRankTable } from './methods-by-rank-table.ts';
import { methodsTable } from './methods-table.ts';
import { placementTable } from './placement-table.ts';
import { datasetRetrievalTable, retrievalTable } from './retrieval-table.ts';
import { servingTable } from './serving-table.ts';
import { storageTable } from './storage-table.ts';
import { tableOne } from './table-one.ts';
import { tableOneB } from './table-one-b.ts';

/** A table of the paper: the name that `--table` takes, the suite that makes it, and how it is drawn. */
interface PaperTable {
  readonly name: string;
  /** Undefined for a table that every run with arms has. */
  readonly suite?: string;
  /** Shown if no table is named. */
  readonly shown: boolean | ((run: RunResults['run']) => boolean);
  /** Undefined if the run has no data for it. */
  readonly of: (results: RunResults) => Table | undefined;
}

const paperTables: readonly PaperTable[] = [
  { name: '1', shown: true, of: tableOne },
  { name: '1b', shown: true, of: tableOneB },
  { name: '1c', shown: namesItsMetric, of: categoryTable },
  { name: '1d', shown: true, of: byRetrievalTable },
  { name: 'judge', shown: true, of: judgeTable },
  { name: 'breakdown', shown: false, of: tableBreakdown },
  { name: '2', suite: 'context', shown: true, of: contextTable },
  { name: '3', suite: 'ablation', shown: true, of: ablationTable },
  { name: '3b', suite: 'placement', shown: true, of: placementTable },
  { name: '4', suite: 'alpha', shown: true, of: alphaTable },
  { name: '5', suite: 'latency', shown: true, of: latencyTable },
  { name: '6', suite: 'coherence', shown: true, of: coherenceTable },
  {
    name: '7',
    suite: 'retrieval',
    shown: true,
    of: (results) => results.measured?.retrieval && retrievalTable(results, results.measured.retrieval),
  },
  {
    name: '7b',
    suite: 'retrieval',
    shown: true,
    of: (results) => results.measured?.retrieval && datasetRetrievalTable(results, results.measured.retrieval),
  },
  {
    name: '8',
    suite: 'storage',
    shown: true,
    of: (results) => results.measured?.storage && storageTable(results, results.measured.storage),
  },
  {
    name: '9',
    suite: 'isolation',
    shown: true,
    of: (results) => results.measured?.leaks && leakTable(results, results.measured.leaks),
  },
  { name: '10', suite: 'coreference', shown: true, of: coreferenceTable },
  { name: '11', suite: 'methods', shown: true, of: methodsTable },
  { name: '11b', suite: 'methods', shown: true, of: methodsByRankTable },
  {
    name: '12',
    suite: 'serving',
    shown: true,
    of: (results) => results.measured?.serving && servingTable(results, results.measured.serving),
  },
  { name: '13', suite: 'methods', shown: true, of: claimsTable },
  { name: 'F2', suite: 'scaling', shown: true, of: latencyScalingTable },
  { name: 'F3', suite: 'scaling', shown: true, of: recallScalingTable },
];

/** The names that `--table` takes. */
export const tableNames: readonly string[] = paperTables.map(({ name }) => name);

/** Tables of methods are those of any run that compares some. */
function isOfSuite({ suite }: PaperTable, { run, methods }: RunResults): boolean {
  return suite === run.suite || (suite === 'methods' && methods !== undefined);
}

function isOf(table: PaperTable, results: RunResults): boolean {
  return table.suite === undefined || isOfSuite(table, results);
}

/** The tables of a run by name, those of its suite first. */
export function reportTables(results: RunResults): ReadonlyMap<string, Table> {
  const own = paperTables.filter((table) => isOf(table, results));
  const ordered = [
    ...own.filter(({ suite }) => suite !== undefined),
    ...own.filter(({ suite }) => suite === undefined),
  ];
  return new Map(
    ordered.flatMap((entry) => {
      const table = entry.of(results);
      return table === undefined ? [] : [[entry.name, table] as const];
    }),
  );
}

/**
 * The tables that are shown first: those of the suite, or tables 1 and 1b, and 1c of data that name their metric; then those of
 * methods where the run compares some.
 */
export function shownTables(results: RunResults): Table[] {
  const isShown = ({ shown }: PaperTable): boolean => (typeof shown === 'boolean' ? shown : shown(results.run));
  const ofSuite = paperTables.filter((table) => table.suite === results.run.suite);
  const ofEveryRun = paperTables.filter((table) => table.suite === undefined && isShown(table));
  const first = ofSuite.length > 0 ? ofSuite : ofEveryRun;
  const others = paperTables.filter((table) => isOfSuite(table, results) && !first.includes(table));
  return [...first, ...others].flatMap((entry) => entry.of(results) ?? []);
}

/**
 * Finds a table by name in one of several runs.
 * @throws BenchError `not-found` if none of them has it; it names the suite that makes it
 */
export function namedTable(runs: readonly RunResults[], name: string): Table {
  const entry = paperTables.find((table) => table.name === name)!;
  const table = runs.filter((results) => isOf(entry, results)).flatMap((results) => entry.of(results) ?? [])[0];
  if (table !== undefined) return table;
  throw new BenchError(
    'not-found',
    `run "${runs.map(({ run }) => run.name).join(', ')}" has no table ${name}: suite ${entry.suite ?? 'main'} makes it`,
    `npm run bench -- --suite ${entry.suite ?? 'main'}`,
  );
}
