import { intervalColumn, type ItemColumn, itemRows, numberColumn } from '../src/render/table.ts';
import type { ArmResults, RunResults } from '../src/store/records/run-results.ts';
import type { BareTable } from './real-model-tables.ts';

interface Category {
  readonly model: string;
  readonly name: string;
  readonly arms: readonly ArmResults[];
}

const COMPARED = ['oracle', 'rag@order=stable', 'dki-blocks', 'dki-blocks@context=previous', 'dki-link:4', 'dki-ranked:.3', 'dki-random:.3']; // prettier-ignore

function part({ arms, name }: Category, arm: string) {
  return arms
    .find((one) => one.arm === arm)
    ?.breakdown.find(({ field, value }) => field === 'category' && value === name);
}

/** Right answers of text by model and kind of question, and the differences of other arms to it, in points. */
export function ladderTable(runs: readonly RunResults[]): BareTable {
  const categories = runs.flatMap(({ run, arms }): Category[] => {
    const values = arms.flatMap(({ breakdown }) =>
      breakdown.flatMap(({ field, value }) => (field === 'category' ? [value] : [])),
    );
    return [...new Set(values)].map((name) => ({ model: run.model.name, name, arms }));
  });
  const difference = (arm: string): ItemColumn<Category> =>
    intervalColumn(arm, `${arm} (pp)`, (category) => part(category, arm)?.difference, 100);
  const columns = [
    numberColumn<Category>('n', 'n', (category) => part(category, 'rag')?.metrics.taskSuccess?.n, 0),
    numberColumn<Category>(
      'rag',
      'rag (%)',
      (category) => (part(category, 'rag')?.metrics.taskSuccess?.mean ?? NaN) * 100,
    ),
    ...COMPARED.map(difference),
  ];
  return {
    rowHeading: 'model: questions',
    ...itemRows(categories, ({ model, name }) => `${model}: ${name}`, [{ columns }]),
  };
}
