import { present } from '../../base/present.ts';
import type { ArmResults, RunResults } from '../../store/records/run-results.ts';
import { type ItemBlock, type ItemColumn, itemRows, numberColumn, type Table, textCell } from '../../render/table.ts';
import { baselineArm, findComparison } from '../find-arms-and-comparisons.ts';
import { titleWithProof } from '../validity-caveats.ts';
import type { MetricDisplay } from '../metric-display.ts';

interface TableParts<Item> {
  readonly id: string;
  readonly title: string;
  /** `arm` by default. */
  readonly rowHeading?: string;
  /** Those that are false are left out, and so are notes. */
  readonly blocks?: readonly (ItemBlock<Item> | false)[];
  /** In place of blocks: columns without a title. */
  readonly columns?: readonly ItemColumn<Item>[];
  readonly notes?: readonly (string | false | undefined)[];
}

/** A table of a run with one row per item; the caption says if the numbers must not be quoted. */
export function runTable<Item>(
  results: Pick<RunResults, 'run' | 'checks'>,
  items: readonly Item[],
  label: (item: Item) => string,
  { id, title, rowHeading = 'arm', columns = [], blocks = [{ columns }], notes = [] }: TableParts<Item>,
): Table {
  return {
    id,
    caption: titleWithProof(title, results),
    rowHeading,
    ...itemRows(items, label, present(blocks)),
    notes: present(notes),
  };
}

export function armTable(results: RunResults, parts: TableParts<ArmResults>): Table {
  return runTable(results, results.arms, ({ arm }) => arm, parts);
}

export function differenceToBaseline(results: RunResults, metric: MetricDisplay): ItemColumn<{ readonly arm: string }> {
  const baseline = baselineArm(results.arms)?.arm;
  return metric.differenceColumn('difference', 'Δ vs RAG', ({ arm }) =>
    findComparison(results, arm, baseline, metric.name),
  );
}

export const hitRateColumn: ItemColumn<ArmResults> = numberColumn('hitRate', 'hit rate (%)', ({ hitRate }) =>
  hitRate === null ? null : hitRate * 100,
);

/** Notes for times that were measured by several workers or on several kinds of machine. */
export function timingNotes({ workers, machines = [] }: RunResults['run']): string[] {
  const kinds = machines.map(({ cpu, cores, users }) => `${cpu}, ${cores} cores: ${users} users`).join('; ');
  return present([
    workers !== undefined &&
      `Times were measured under load, with ${workers} workers at once: compare them only with times under the same load.`,
    machines.length > 1 &&
      `Turns ran on ${machines.length} kinds of machine (${kinds}); the turns of a user ran on one machine.`,
  ]);
}

/** Adds a row for each arm that could not run, with the reason in a column. */
export function withArmsNotRun(table: Table, { armsNotRun }: RunResults['run'], column: string): Table {
  const rows = armsNotRun.map(({ arm, why }) => ({ label: arm, cells: { [column]: textCell(`not run: ${why}`) } }));
  return { ...table, rows: [...table.rows, ...rows] };
}
