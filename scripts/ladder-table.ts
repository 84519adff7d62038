import { type ModelContrast, modelContrasts } from '../src/eval/analysis/compare/model-contrasts.ts';
import { findComparison } from '../src/report/find-arms-and-comparisons.ts';
import { formatNumber, formatProbability } from '../src/render/format-number.ts';
import { intervalColumn, type ItemColumn, itemRows, numberColumn, textColumn } from '../src/render/table.ts';
import type { ArmResults, RunResults } from '../src/store/records/run-results.ts';
import type { BareTable } from './real-model-tables.ts';

interface Category {
  readonly model: string;
  readonly name: string;
  readonly arms: readonly ArmResults[];
}

const COMPARED = ['rag@order=stable', 'dki-blocks', 'dki-blocks@context=previous', 'dki-ranked:.3'];

function part({ arms, name }: Category, arm: string) {
  return arms
    .find((one) => one.arm === arm)
    ?.breakdown.find(({ field, value }) => field === 'category' && value === name);
}

function categoriesOf({ run, arms }: RunResults): Category[] {
  const values = arms.flatMap(({ breakdown }) =>
    breakdown.flatMap(({ field, value }) => (field === 'category' ? [value] : [])),
  );
  return [...new Set(values)].map((name) => ({ model: run.model.name, name, arms }));
}

/** Right answers of text by model and kind of question, and the differences of other arms to it, in points. */
export function ladderTable(runs: readonly RunResults[]): BareTable {
  const categories = runs.flatMap(categoriesOf);
  const difference = (arm: string): ItemColumn<Category> =>
    intervalColumn(arm, `${arm} (pp)`, (category) => part(category, arm)?.difference, 100);
  const columns = [
    numberColumn<Category>(
      'rag',
      'rag (%)',
      (category) => (part(category, 'rag')?.metrics.taskSuccess?.mean ?? NaN) * 100,
    ),
    ...COMPARED.filter((arm) => runs.some(({ arms }) => arms.some((one) => one.arm === arm))).map(difference),
  ];
  return {
    rowHeading: 'model: questions',
    ...itemRows(categories, ({ model, name }) => `${model}: ${name}`, [{ columns }]),
  };
}

const times = ['rag-cached', 'dki', 'dki-blocks'];

/** TTFT over all turns in proportion to that of text, of each arm in `times`. */
const timesText = (results: RunResults): string =>
  times
    .map((arm) => formatNumber(Math.exp(findComparison(results, arm, 'rag', 'ttftLogRatioAll')!.delta), 2))
    .join(', ');

function sameAnswersText(results: RunResults): string {
  const { verdict, n, delta } = findComparison(results, 'dki', 'rag', 'contains')!;
  return verdict === 'identical' ? `all ${n}` : `not: ${formatNumber(delta * 100, 1)} pp`;
}

const categoryColumn = (category: string, heading: string): ItemColumn<ModelContrast> =>
  intervalColumn(
    category,
    heading,
    ({ contrast: { found } }) =>
      found.state === 'measured' ? found.parts.find((part) => part.category === category) : undefined,
    100,
  );

/** What the ladder found, a row for each model; p values are adjusted over the models. */
export function ladderFindings(runs: readonly RunResults[]): BareTable {
  const columns = [
    textColumn<ModelContrast>('same', 'dki answers as text', ({ results }) => sameAnswersText(results)),
    categoryColumn('updated', 'blocks: updated'),
    categoryColumn('two memories', 'blocks: two memories'),
    intervalColumn<ModelContrast>(
      'contrast',
      'planned difference',
      ({ contrast: { found } }) => (found.state === 'measured' ? found : undefined),
      100,
    ),
    textColumn<ModelContrast>('p', 'p (Holm)', ({ pAdjusted, verdict }) =>
      pAdjusted === null ? null : `${formatProbability(pAdjusted)}, ${verdict!}`,
    ),
    textColumn<ModelContrast>('times', 'TTFT ÷ text, all turns: prefix cache, dki, blocks', ({ results }) =>
      timesText(results),
    ),
  ];
  return {
    rowHeading: 'model',
    ...itemRows(modelContrasts(runs), ({ results }) => results.run.model.name, [{ columns }]),
  };
}
