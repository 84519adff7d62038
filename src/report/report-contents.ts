/** What the report of a run shows: its tables and its figures, by suite. */
import { BenchError } from '../base/bench-error.ts';
import { memoize } from '../base/memoize.ts';
import { type Figure, pictureFile, renderFigure, renderFigureData, renderSpecification } from '../render/figure.ts';
import { sentenceColumn, type Table, textColumn } from '../render/table.ts';
import type { CheckResult, RunResults } from '../store/records/run-results.ts';
import { namesItsMetric, plansContrast } from './metric-display.ts';
import { judgeTable, wrongAnswersTable } from './tables/answer-grading-tables.ts';
import { comparisonsTables } from './tables/arm-comparisons-tables.ts';
import { armResultsTable } from './tables/arm-results-table.ts';
import { runTable } from './tables/table-parts.ts';
import { ablationTable, alphaFigure, alphaTable, placementTable } from './topics/ablation.ts';
import { breakdownTable, byRetrievalTable, categoryFigure, categoryTable, contrastTable } from './topics/categories.ts';
import {
  coherenceFigure,
  coherenceTable,
  contextTable,
  coreferenceTable,
  latencyScalingTable,
  multiTurnTable,
  recallFigure,
  recallScalingTable,
} from './topics/conditions.ts';
import { editTable } from './topics/edit.ts';
import { lengthBreakEvenTable, lengthTable } from './topics/length.ts';
import { claimsTable, methodsByRankTable, methodsFigure, methodsTable } from './topics/methods.ts';
import { datasetRetrievalTable, retrievalFinding, retrievalTable } from './topics/retrieval.ts';
import { reuseFigure, reuseMapTable, reuseTable } from './topics/reuse.ts';
import {
  leakFigure,
  leakTable,
  servingFinding,
  servingTable,
  storageFigure,
  storageTable,
} from './topics/storage-isolation-serving.ts';
import { breakEvenFigure, frontierFigure, latencyTable, phasesFigure } from './topics/times.ts';
import { titleWithProof } from './validity-caveats.ts';

type Measured = NonNullable<RunResults['measured']>;

interface PaperTable {
  /** Value of `--table`. */
  readonly name: string;
  /** The suite that has the table; undefined if every run with arms has it. */
  readonly suite?: string;
  /** Whether a run shows it if no table is named; default: true. */
  readonly isShown?: (run: RunResults['run']) => boolean;
  /** What to do where a run has none; by default, to run its suite. */
  readonly hint?: string;
  /** Undefined if the run has no data for it. */
  readonly draw: (results: RunResults, runs: readonly RunResults[]) => Table | undefined;
}

const measured =
  <Part extends keyof Measured>(
    part: Part,
    draw: (results: RunResults, measured: NonNullable<Measured[Part]>) => Table | undefined,
  ) =>
  (results: RunResults): Table | undefined => {
    const found = results.measured?.[part];
    return found === undefined ? undefined : draw(results, found);
  };

/** A table of arms, which suites that only measure do not have. */
const ofArms =
  (draw: (results: RunResults) => Table): PaperTable['draw'] =>
  (results) =>
    results.arms.length === 0 ? undefined : draw(results);

/** The contrast that the data plan, of all runs that are shown together. */
const plannedContrast: PaperTable = {
  name: 'contrast',
  hint: 'declare a plannedContrast in the dataset line of the data, and run the bench on them (docs/data.md)',
  isShown: plansContrast,
  draw: ({ contrast }, runs) => (contrast === undefined ? undefined : contrastTable(runs)),
};
const byCategory: PaperTable = { name: '1c', isShown: namesItsMetric, draw: categoryTable };

const paperTables: readonly PaperTable[] = [
  plannedContrast,
  { name: '1', draw: ofArms(armResultsTable) },
  { name: '1b', draw: ofArms(wrongAnswersTable) },
  byCategory,
  { name: '1d', draw: byRetrievalTable },
  { name: 'judge', draw: judgeTable },
  { name: 'breakdown', isShown: () => false, draw: ofArms((results) => breakdownTable(results)) },
  { name: '2', suite: 'context', draw: contextTable },
  { name: '3', suite: 'ablation', draw: ablationTable },
  { name: '3b', suite: 'placement', draw: placementTable },
  { name: '4', suite: 'alpha', draw: alphaTable },
  { name: '5', suite: 'latency', draw: latencyTable },
  { name: '6', suite: 'coherence', draw: coherenceTable },
  { name: '7', suite: 'retrieval', draw: measured('retrieval', retrievalTable) },
  { name: '7b', suite: 'retrieval', draw: measured('retrieval', datasetRetrievalTable) },
  { name: '8', suite: 'storage', draw: measured('storage', storageTable) },
  { name: '9', suite: 'isolation', draw: measured('leaks', leakTable) },
  { name: '10', suite: 'coreference', draw: coreferenceTable },
  { name: '11', suite: 'methods', draw: methodsTable },
  { name: '11b', suite: 'methods', draw: methodsByRankTable },
  { name: '12', suite: 'serving', draw: measured('serving', servingTable) },
  { name: '13', suite: 'methods', draw: claimsTable },
  { name: '14', suite: 'length', draw: measured('length', lengthTable) },
  { name: '14b', suite: 'length', draw: measured('length', lengthBreakEvenTable) },
  { name: '15', suite: 'edit', draw: measured('edit', editTable) },
  { name: '16', suite: 'reuse', draw: measured('reuse', reuseTable) },
  { name: '16b', suite: 'reuse', draw: measured('reuse', reuseMapTable) },
  { name: '17', suite: 'multi-turn', draw: multiTurnTable },
  { name: 'F2', suite: 'scaling', draw: latencyScalingTable },
  { name: 'F3', suite: 'scaling', draw: recallScalingTable },
];

export const tableNames: readonly string[] = paperTables.map(({ name }) => name);

function belongsTo({ suite }: PaperTable, { run, methods }: RunResults): boolean {
  return suite === run.suite || (suite === 'methods' && methods !== undefined);
}

/** The tables of a run by name, those of its suite first. */
export function reportTables(results: RunResults): ReadonlyMap<string, Table> {
  const ofSuite = paperTables.filter((table) => belongsTo(table, results));
  const ofEveryRun = paperTables.filter(({ suite }) => suite === undefined);
  return new Map(
    [...ofSuite, ...ofEveryRun].flatMap(({ name, draw }) => {
      const table = draw(results, [results]);
      return table === undefined ? [] : [[name, table] as const];
    }),
  );
}

export const checkMarks: Readonly<Record<CheckResult['status'], string>> = { passed: '✓', failed: '✗', undecided: '–' };

/** The evidence of a check, and what a passed one would have seen. */
function checkEvidence({ status, evidence, detects }: CheckResult): string {
  if (status === 'undecided') return `undecided: ${evidence}`;
  return detects === undefined ? evidence : `${evidence}; would have seen ${detects}`;
}

export function checksTable(results: RunResults): Table {
  return runTable(results, results.checks, ({ check }) => check, {
    id: 'checks',
    title: 'Checks',
    rowHeading: 'check',
    columns: [
      textColumn('status', 'passed', ({ status }) => checkMarks[status]),
      sentenceColumn('evidence', 'evidence', checkEvidence),
    ],
  });
}

/** All tables of a run except its checks. */
export function allTables(results: RunResults): Table[] {
  return [...reportTables(results).values(), ...comparisonsTables(results)];
}

/**
 * The tables that a run shows by default: those of its suite or, if it has none, those of every run; then those of suite `methods`
 * if it compares methods.
 */
export function shownTables(results: RunResults): Table[] {
  const ofSuite = paperTables.filter(({ suite }) => suite === results.run.suite);
  const ofEveryRun = paperTables.filter(
    ({ suite, isShown }) => suite === undefined && (isShown?.(results.run) ?? true),
  );
  const usual = ofSuite.length > 0 ? ofSuite : ofEveryRun;
  // Where a contrast of categories is planned, no mean over all of them comes first.
  const first = plansContrast(results.run) ? [...new Set([plannedContrast, byCategory, ...usual])] : usual;
  const others = paperTables.filter((table) => belongsTo(table, results) && !first.includes(table));
  return [...first, ...others].flatMap(({ draw }) => draw(results, [results]) ?? []);
}

/** Finds a table by name in one of several runs. @throws BenchError `not-found`, which names the suite that has it */
export function findTable(runs: readonly RunResults[], name: string): Table {
  const entry = paperTables.find((table) => table.name === name)!;
  const { suite = 'main', draw } = entry;
  const having = runs.filter((results) => entry.suite === undefined || belongsTo(entry, results));
  const table = having.flatMap((results) => draw(results, having) ?? [])[0];
  if (table !== undefined) return table;
  const names = runs.map(({ run }) => run.name).join(', ');
  const whose = entry.hint === undefined ? `, which suite ${suite} has` : '';
  const message = `run "${names}" has no table ${name}${whose}`;
  throw new BenchError('not-found', message, entry.hint ?? `npx dki-bench bench --suite ${suite}`);
}

const figuresBySuite: Readonly<Record<string, readonly ((results: RunResults) => Figure | undefined)[]>> = {
  main: [categoryFigure, frontierFigure, breakEvenFigure],
  alpha: [alphaFigure],
  latency: [breakEvenFigure],
  coherence: [coherenceFigure],
  storage: [storageFigure],
  isolation: [leakFigure],
  methods: [methodsFigure],
  reuse: [reuseFigure],
  scaling: [frontierFigure, phasesFigure, recallFigure],
};

/** The figures of a run: those of its suite with data, and the figure of methods if the run compares methods. */
export function reportFigures(results: RunResults): Figure[] {
  const ofSuite = figuresBySuite[results.run.suite] ?? [];
  const ofMethods = results.methods === undefined || ofSuite.includes(methodsFigure) ? [] : [methodsFigure];
  return [...ofSuite, ...ofMethods]
    .flatMap((draw) => draw(results) ?? [])
    .map((figure) => ({ ...figure, title: titleWithProof(figure.title, results) }));
}

/** What a suite without arms found, in a sentence. */
export function suiteFinding(results: RunResults): string | undefined {
  const { retrieval, serving } = results.measured ?? {};
  return retrieval === undefined ? serving && servingFinding(serving) : retrievalFinding(retrieval);
}

export type DrawnFigure = Awaited<ReturnType<typeof drawnFigures>>[number];

/** Draws the figures of a run. Memoized, since they go to their own files, the page of the run and the page of its group. */
export const drawnFigures = memoize(async (results: RunResults) => {
  const figures: { readonly figure: Figure; readonly svg: string }[] = [];
  for (const figure of reportFigures(results)) figures.push({ figure, svg: await renderFigure(figure) });
  return figures;
});

export async function figureFiles(results: RunResults): Promise<(readonly [path: string, content: string])[]> {
  return (await drawnFigures(results)).flatMap(({ figure, svg }) => [
    [`figures/${figure.id}.svg`, pictureFile(svg)] as const,
    [`figures/${figure.id}.vl.json`, renderSpecification(figure)] as const,
    [`figures/${figure.id}.csv`, renderFigureData(figure)] as const,
  ]);
}
