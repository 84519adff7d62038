import { present } from '../../base/present.ts';
import { type Comparison, type CostName, costNames, type RunResults } from '../../store/records/run-results.ts';
import { type Difference, formatProbability, ratioDigits, ratioOf } from '../../render/format-number.ts';
import {
  type Cell,
  countColumn,
  estimateCell,
  intervalColumn,
  type ItemColumn,
  numberColumn,
  type Table,
  textCell,
  textColumn,
  titled,
} from '../../render/table.ts';
import { primaryArm } from '../find-arms-and-comparisons.ts';
import { findMetric, type MetricDisplay, plansContrast } from '../metric-display.ts';
import { intervalUnit, tooFewUsers } from '../verdict-sentences.ts';
import { runTable, timingNotes } from './table-parts.ts';

export function probabilityCell(p: number | null | undefined): Cell {
  return p === null || p === undefined ? undefined : textCell(formatProbability(p));
}

/** The verdict as text, with the number of items that a decision would need. */
export function verdictText({ verdict, n, neededItems }: Pick<Comparison, 'verdict' | 'n' | 'neededItems'>): string {
  if (verdict === 'identical') return `identical on ${n} of ${n}`;
  return neededItems === undefined ? verdict : `${verdict} (needs ${neededItems} items)`;
}

/** A comparison of logarithms as the ratio `a ÷ b` with its interval; `scale` 100 makes it a percentage. */
export function ratioCell(compared: Difference | undefined, scale: 1 | 100): Cell {
  if (compared === undefined) return undefined;
  const { delta, low, high } = compared;
  const ratio = { delta: ratioOf(delta), low: ratioOf(low), high: ratioOf(high) };
  return estimateCell(ratio, scale, scale === 1 ? ratioDigits(delta) : 1);
}

export const countColumns: readonly ItemColumn<Pick<Comparison, 'n' | 'users' | 'wins' | 'losses' | 'ties'>>[] = (
  ['n', 'users', 'wins', 'losses', 'ties'] as const
).map((key) => countColumn(key, key, (compared) => compared[key]));

/** The columns of p values; for quality, also the test that a loss stays within the margin. */
export const testColumns = (isQuality: boolean): ItemColumn<Pick<Comparison, 'p' | 'pAdjusted' | 'pKept'>>[] =>
  present([
    numberColumn('p', 'p', ({ p }) => probabilityCell(p)),
    numberColumn('pAdjusted', 'p (Holm)', ({ pAdjusted }) => probabilityCell(pAdjusted)),
    isQuality && numberColumn('pKept', 'p (kept)', ({ pKept }) => probabilityCell(pKept)),
  ]);

function qualityParts({ run }: RunResults, quality: MetricDisplay, compared: readonly Comparison[]) {
  const { differenceHeading, scale, digits } = quality;
  const isTested = compared.some(({ p }) => p !== null);
  const isBinary = compared.some(({ mcnemar }) => mcnemar !== undefined);
  const detectable = numberColumn(
    'detectable',
    `detectable (${differenceHeading})`,
    (one: Comparison) => one.detectable && one.detectable * scale,
    digits,
  );
  const difference = quality.differenceColumn('difference', 'a − b', (one: Comparison) => one);
  return {
    title: quality.title,
    columns: [difference, verdictColumn, ...(isTested ? testColumns(true) : []), ...(isBinary ? mcnemarColumns : [])],
    counts: isTested ? [detectable] : [],
    notes: [
      plansContrast(run) && 'Over all categories together; table 1c has each.',
      ...(isTested
        ? [
            testNote(run),
            'p (kept): one-sided test for a loss of the margin or more, adjusted likewise; kept if below .025. Detectable: the smallest',
            'true difference that these items show with 80 % power. Needs: the number of items at which arms that do not differ',
            'are called kept with 80 % power.',
          ]
        : []),
      isBinary && "McNemar's test takes items as independent, where p takes users; no verdict reads it.",
    ],
  };
}

function costParts({ run, arms }: RunResults, cost: CostName, compared: readonly Comparison[]) {
  const isTime = cost.startsWith('ttft');
  const isTested = compared.some(({ p }) => p !== null);
  const means = (['a', 'b'] as const).map((arm) => {
    const heading = `${arm}${isTime ? ' (ms)' : ''}`;
    return numberColumn(`mean${arm.toUpperCase()}`, heading, (one: Comparison) => one.means?.[arm], isTime ? 2 : 1);
  });
  const difference = isTime
    ? intervalColumn('difference', 'a ÷ b (% of b)', (one: Comparison) => ratioCell(one, 100))
    : intervalColumn('difference', 'a − b (tokens)', (one: Comparison) => one);
  // Only a primary arm defines cache hits.
  const over = primaryArm(arms) === undefined ? '' : cost.endsWith('All') ? ', all turns' : ', cache hits';
  return {
    title: `${isTime ? 'Time to first token' : 'Tokens evaluated per turn'}${over}`,
    columns: [...means, difference, verdictColumn, ...(isTested ? testColumns(false) : [])],
    counts: [],
    notes: [
      isTime && 'a and b are geometric means over the same turns; their ratio is a ÷ b.',
      ...(isTime ? timingNotes(run) : []),
      isTested && testNote(run),
    ],
  };
}

const mcnemarColumns: readonly ItemColumn<Comparison>[] = [
  numberColumn('mcnemar', 'McNemar', ({ mcnemar }) => probabilityCell(mcnemar?.exact)),
  numberColumn('midP', 'mid-p', ({ mcnemar }) => probabilityCell(mcnemar?.midP)),
];

const verdictColumn = textColumn<Comparison>('verdict', 'verdict', verdictText);

const testNote = (run: RunResults['run']): string =>
  `Intervals ${intervalUnit(run)}; p by sign-flip, adjusted (Holm) over the planned comparisons of this table.`;

export function comparisonsTables(results: RunResults): Table[] {
  return [...Map.groupBy(results.comparisons, ({ metric }) => metric)].map(([metric, compared]) => {
    const cost = costNames.find((name) => name === metric);
    const { title, columns, counts, notes } =
      cost === undefined
        ? qualityParts(results, findMetric(results.run, metric)!, compared)
        : costParts(results, cost, compared);
    const tooFew = compared.some(({ p }) => p !== null) ? tooFewUsers(results.run) : undefined;
    return runTable(results, compared, ({ a, b }) => `${a} : ${b}`, {
      id: `comparisons-${metric.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      title: `Paired by item: ${title}`,
      rowHeading: 'a vs b',
      blocks: [{ columns }, titled('Items by a vs b', [...countColumns, ...counts])],
      notes: [...notes, tooFew !== undefined && `No verdict: ${tooFew}.`],
    });
  });
}
