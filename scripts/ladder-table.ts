import { findComparison } from '../src/report/find-arms-and-comparisons.ts';
import { formatInterval, formatNumber } from '../src/render/format-number.ts';
import { intervalColumn, type ItemColumn, itemRows, numberColumn } from '../src/render/table.ts';
import { renderMarkdown } from '../src/render/table-markdown.ts';
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
    ...COMPARED.map(difference),
  ];
  return {
    rowHeading: 'model: questions',
    ...itemRows(categories, ({ model, name }) => `${model}: ${name}`, [{ columns }]),
  };
}

type Interval = Readonly<Record<'delta' | 'low' | 'high', number>>;

/** `−28.4 [−38.2, −20.3]` */
const pointsText = ({ delta, low, high }: Interval): string => formatInterval([delta * 100, low * 100, high * 100], 1);

/** What a run of the ladder found beside its table, as sentences to quote. */
function findingOf(results: RunResults): string {
  const exact = findComparison(results, 'dki', 'rag', 'contains')!;
  const { found } = results.contrast!;
  if (found.state !== 'measured') throw new Error(`${results.run.name}: the planned contrast was not measured`);
  const hits = findComparison(results, 'dki', 'rag', 'ttftLogRatio')!;
  const times = ['rag-cached', 'dki', 'dki-blocks']
    .map((arm) => `\`${arm}\` ${formatNumber(Math.exp(findComparison(results, arm, 'rag', 'ttftLogRatio')!.delta), 2)}`)
    .join(', ');
  return [
    `> **${results.run.model.name}**: \`dki\``,
    `answered ${exact.verdict === 'identical' ? `as text did on all ${exact.n} answerable questions` : `${pointsText(exact)} points from text`}.`,
    `The planned difference: ${pointsText(found)} points, ${found.verdict}.`,
    `TTFT ÷ that of text on the ${hits.n} turns whose memories came back: ${times}.`,
  ].join(' ');
}

/** By kind of question, for each model: right answers of text, and what joined blocks differ from them. */
function blocksTable(runs: readonly RunResults[]): BareTable {
  const categories = categoriesOf(runs[0]!);
  const columns = runs.flatMap((results) => {
    const { name } = results.run.model;
    const of = ({ name: kind }: Category): Category => ({ model: name, name: kind, arms: results.arms });
    const right = (category: Category): number => (part(of(category), 'rag')?.metrics.taskSuccess?.mean ?? NaN) * 100;
    return [
      numberColumn<Category>(`${name}:rag`, `${name}: rag (%)`, right),
      intervalColumn<Category>(`${name}:blocks`, 'dki-blocks (pp)', (category) => part(of(category), 'dki-blocks')?.difference, 100), // prettier-ignore
    ];
  });
  return { rowHeading: 'questions', ...itemRows(categories, ({ name }) => name, [{ columns }]) };
}

/** What the ladder found: joined blocks by kind of question, and sentences for each model. */
export function ladderFindings(runs: readonly RunResults[]): string {
  const table = renderMarkdown({ ...blocksTable(runs), id: '', caption: '', notes: [] }).split('\n');
  return [table.slice(2).join('\n').trim(), ...runs.map(findingOf)].join('\n\n');
}
