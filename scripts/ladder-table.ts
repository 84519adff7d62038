import { contrastName } from '../src/eval/analysis/summary/planned-contrast.ts';
import { containsZero } from '../src/report/verdict-wording.ts';
import { findComparison } from '../src/report/find-arms-and-comparisons.ts';
import { countText, formatInterval, formatRatio } from '../src/render/format-number.ts';
import { intervalColumn, type ItemColumn, itemRows, numberColumn } from '../src/render/table.ts';
import type { ArmResults, CostName, RunResults } from '../src/store/records/run-results.ts';
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

type Interval = Readonly<Record<'delta' | 'low' | 'high', number>>;

/** `−28.4 [−38.2, −20.3]` */
const pointsText = ({ delta, low, high }: Interval): string => formatInterval([delta * 100, low * 100, high * 100], 1);

/** The times to the first token ÷ those of text, of the prefix cache and of the arms that inject. */
const timesText = (results: RunResults, metric: CostName): string =>
  ['rag-cached', 'dki', 'dki-blocks']
    .map((arm) => `\`${arm}\` ${formatRatio(findComparison(results, arm, 'rag', metric)!)}`)
    .join(', ');

/** What a run of the ladder found, as a paragraph to quote. */
function findingOf(results: RunResults): string {
  const exact = findComparison(results, 'dki', 'rag', 'contains')!;
  const kinds = categoriesOf(results)
    .map((category) => ({ kind: `_${category.name}_`, difference: part(category, 'dki-blocks')!.difference! }))
    .toSorted((a, b) => a.difference.delta - b.difference.delta);
  const shown = kinds.filter(({ difference }) => !containsZero(difference));
  const others = kinds.filter(({ difference }) => containsZero(difference));
  const { planned, found } = results.contrast!;
  if (found.state !== 'measured') throw new Error(`${results.run.name}: the planned contrast was not measured`);
  const hits = findComparison(results, 'dki', 'rag', 'ttftLogRatio')!;
  return [
    `> **${results.run.model.name}**, ${countText(results.run.dataset.items, 'question')}: one **exact prefix** (\`dki\`)`,
    `answered ${exact.verdict === 'identical' ? `as text did on all ${exact.n} answerable ones` : `${pointsText(exact)} points from text`}.`,
    `**Joined blocks** (\`dki-blocks\`), points against text: ${shown.map(({ kind, difference }) => `${kind} ${pointsText(difference)}`).join(', ')};`,
    `no difference shown on ${others.map(({ kind }) => kind).join(', ')}.`,
    `Planned contrast, ${contrastName(planned)}: ${pointsText(found)} points, ${found.verdict}.`,
    `TTFT ÷ that of text, all turns: ${timesText(results, 'ttftLogRatioAll')}; the ${hits.n} turns whose memories came back: ${timesText(results, 'ttftLogRatio')}.`,
  ].join('\n> ');
}

/** What the ladder found, one paragraph for each model. */
export const ladderFindings = (runs: readonly RunResults[]): string => runs.map(findingOf).join('\n>\n');
