import { type ModelContrast, modelContrasts } from '../src/eval/analysis/compare/model-contrasts.ts';
import { findComparison } from '../src/report/find-arms-and-comparisons.ts';
import { formatInterval, formatNumber, formatProbability } from '../src/render/format-number.ts';
import { intervalColumn, type ItemColumn, itemRows, numberColumn } from '../src/render/table.ts';
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

type Interval = Readonly<Record<'delta' | 'low' | 'high', number>>;

/** `−28.4 [−38.2, −20.3]` */
const pointsText = ({ delta, low, high }: Interval): string => formatInterval([delta * 100, low * 100, high * 100], 1);

/** What a run of the ladder found, as sentences to quote. */
function findingOf({ results, contrast, pAdjusted, verdict }: ModelContrast): string {
  const exact = findComparison(results, 'dki', 'rag', 'contains')!;
  if (contrast.found.state !== 'measured')
    throw new Error(`${results.run.name}: the planned contrast was not measured`);
  const hits = findComparison(results, 'dki', 'rag', 'ttftLogRatio')!;
  const times = ['rag-cached', 'dki', 'dki-blocks']
    .map((arm) => `\`${arm}\` ${formatNumber(Math.exp(findComparison(results, arm, 'rag', 'ttftLogRatio')!.delta), 2)}`)
    .join(', ');
  const same = exact.verdict === 'identical' ? `answers as text on all ${exact.n}` : `${pointsText(exact)} points`;
  const parts = contrast.found.parts.map((part) => `${pointsText(part)} on _${part.category}_`);
  return [
    `> **${results.run.model.name}**: \`dki\` ${same}; blocks ${parts.join(', ')}.`,
    `Planned difference: ${pointsText(contrast.found)}, p ${formatProbability(pAdjusted!)}, ${verdict!}.`,
    `TTFT ÷ text on ${hits.n} hits: ${times}.`,
  ].join(' ');
}

/** What the ladder found, a paragraph for each model; p values are adjusted over the models. */
export function ladderFindings(runs: readonly RunResults[]): string {
  return modelContrasts(runs).map(findingOf).join('\n\n');
}
