import { type Comparison, type CostName, costNames, type RunResults } from '../../store/records/run-results.ts';
import { formatProbability, ratioDigits, ratioOf } from '../../render/format-number.ts';
import { type Cell, countColumn, type Difference, estimateCell, intervalColumn, type ItemColumn, none, numberColumn, type Table, textCell, textColumn } from '../../render/table.ts'; // prettier-ignore
import { primaryArm } from '../find-arms-and-comparisons.ts';
import { findMetric, type MetricDisplay, plansContrast } from '../metric-display.ts';
import { intervalUnit, tooFewUsers } from '../verdict-sentences.ts';
import { runTable, timingNotes } from './table-parts.ts';

export function probabilityCell(p: number | null): Cell {
  return p === null ? none : textCell(formatProbability(p));
}

/** The verdict as text, with the number of items that a decision would need. */
export function verdictText({ verdict, n, neededItems }: Pick<Comparison, 'verdict' | 'n' | 'neededItems'>): string {
  if (verdict === 'identical') return `identical on ${n} of ${n}`;
  return neededItems === undefined ? verdict : `${verdict} (needs ${neededItems} items)`;
}

/** A comparison of logarithms as the ratio `a ÷ b` with its interval; `scale` 100 makes it a percentage. */
export function ratioCell(compared: Difference | undefined, scale: 1 | 100): Cell {
  if (compared === undefined) return none;
  const { delta, low, high } = compared;
  const ratio = { delta: ratioOf(delta), low: ratioOf(low), high: ratioOf(high) };
  return estimateCell(ratio, scale, scale === 1 ? ratioDigits(delta) : 1);
}

export const countColumns: readonly ItemColumn<Pick<Comparison, 'n' | 'users' | 'wins' | 'losses' | 'ties'>>[] = (
  ['n', 'users', 'wins', 'losses', 'ties'] as const
).map((key) => countColumn(key, key, (compared) => compared[key]));

/** The columns of p values; for quality, also the test that a loss stays within the margin. */
export function testColumns(isQuality: boolean): ItemColumn<Pick<Comparison, 'p' | 'pAdjusted' | 'pKept'>>[] {
  return [
    numberColumn('p', 'p', ({ p }) => probabilityCell(p)),
    numberColumn('pAdjusted', 'p (Holm)', ({ pAdjusted }) => probabilityCell(pAdjusted)),
    ...(isQuality
      ? [numberColumn('pKept', 'p (kept)', ({ pKept }: Pick<Comparison, 'pKept'>) => probabilityCell(pKept))]
      : []),
  ];
}

function qualityTable(results: RunResults, quality: MetricDisplay, compared: readonly Comparison[]): Table {
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
  return pairsTable(results, compared, {
    title: quality.title,
    columns: [difference, verdictColumn, ...(isTested ? testColumns(true) : []), ...(isBinary ? mcnemarColumns : [])],
    counts: isTested ? [detectable] : [],
    notes: [
      plansContrast(results.run) && 'Over all categories together; table 1c has each.',
      ...(isTested
        ? [
            testNote(results),
            'p (kept): one-sided test for a loss of the margin or more, adjusted likewise; kept if below .025. Detectable: the smallest',
            'true difference that these items show with 80 % power. Needs: the number of items at which arms that do not differ',
            'are called kept with 80 % power.',
          ]
        : []),
      isBinary && "McNemar's test takes items as independent, where p takes users; no verdict reads it.",
    ],
  });
}

function costTable(results: RunResults, cost: CostName, compared: readonly Comparison[]): Table {
  const isTime = cost.startsWith('ttft');
  const isTested = compared.some(({ p }) => p !== null);
  const mean = (key: string, arm: 'a' | 'b') =>
    numberColumn(key, `${arm}${isTime ? ' (ms)' : ''}`, ({ means }: Comparison) => means?.[arm], isTime ? 2 : 1);
  const difference = isTime
    ? intervalColumn('difference', 'a ÷ b (% of b)', (one: Comparison) => ratioCell(one, 100))
    : intervalColumn('difference', 'a − b (tokens)', (one: Comparison) => one);
  // Only a primary arm defines cache hits.
  const over = primaryArm(results.arms) === undefined ? '' : cost.endsWith('All') ? ', all turns' : ', cache hits';
  return pairsTable(results, compared, {
    title: `${isTime ? 'Time to first token' : 'Tokens evaluated per turn'}${over}`,
    columns: [
      mean('meanA', 'a'),
      mean('meanB', 'b'),
      difference,
      verdictColumn,
      ...(isTested ? testColumns(false) : []),
    ],
    counts: [],
    notes: [
      isTime && 'a and b are geometric means over the same turns; their ratio is a ÷ b.',
      ...(isTime ? timingNotes(results.run) : []),
      isTested && testNote(results),
    ],
  });
}

const mcnemarColumns: readonly ItemColumn<Comparison>[] = [
  numberColumn('mcnemar', 'McNemar', ({ mcnemar }) => probabilityCell(mcnemar?.exact ?? null)),
  numberColumn('midP', 'mid-p', ({ mcnemar }) => probabilityCell(mcnemar?.midP ?? null)),
];

const verdictColumn = textColumn<Comparison>('verdict', 'verdict', verdictText);

const testNote = ({ run }: RunResults): string =>
  `Intervals ${intervalUnit(run)}; p by sign-flip, adjusted (Holm) over the planned comparisons of this table.`;

interface PairsTable {
  readonly title: string;
  readonly columns: readonly ItemColumn<Comparison>[];
  readonly counts: readonly ItemColumn<Comparison>[];
  readonly notes: readonly (string | false)[];
}

function pairsTable(results: RunResults, compared: readonly Comparison[], table: PairsTable): Table {
  const { metric } = compared[0]!;
  const tooFew = compared.some(({ p }) => p !== null) ? tooFewUsers(results.run) : undefined;
  return runTable(results, compared, ({ a, b }) => `${a} : ${b}`, {
    id: `comparisons-${metric.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    title: `Paired by item: ${table.title}`,
    rowHeading: 'a vs b',
    blocks: [{ columns: table.columns }, { title: 'Items by a vs b', columns: [...countColumns, ...table.counts] }],
    notes: [...table.notes, tooFew !== undefined && `No verdict: ${tooFew}.`],
  });
}

export function comparisonsTables(results: RunResults): Table[] {
  return [...Map.groupBy(results.comparisons, ({ metric }) => metric)].map(([metric, compared]) => {
    const cost = costNames.find((name) => name === metric);
    if (cost !== undefined) return costTable(results, cost, compared);
    return qualityTable(results, findMetric(results.run, metric)!, compared);
  });
}
