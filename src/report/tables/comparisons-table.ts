import { type Comparison, type CostName, costNames, type RunResults } from '../../store/records/results.ts';
import { type Cell, countColumn, differenceCell, estimateCell, intervalColumn, type ItemColumn, itemRows, none, numberColumn, type Table, textCell, textColumn } from '../../render/table.ts'; // prettier-ignore
import { primaryArm } from '../compared-arms.ts';
import { loadNotes } from '../load-notes.ts';
import { titleWithProof } from '../proof.ts';
import { metricNamed, type ShownMetric } from '../shown-metric.ts';
import { intervalUnit, tooFewUsers } from '../verdict.ts';

const ttft = { title: 'Time to first token', unit: '% of b', meanUnit: ' (ms)', isRatio: true };
const tokens = { title: 'Tokens evaluated per turn', unit: 'tokens', meanUnit: '', isRatio: false };

/** Costs, which are no metrics of quality: the units of their differences and means; times are compared as ratios `a ÷ b`. */
const costs = {
  ttftLogRatio: { ...ttft, over: 'cache hits' },
  evaluatedTokens: { ...tokens, over: 'cache hits' },
  ttftLogRatioAll: { ...ttft, over: 'all turns' },
  evaluatedTokensAll: { ...tokens, over: 'all turns' },
} satisfies Record<CostName, unknown>;
type ShownCost = (typeof costs)[CostName];

/** A probability as `.032` or `<.001`. */
export function formatProbability(p: number): string {
  return p < 0.001 ? '<.001' : p.toFixed(3).replace(/^0/, '');
}

/** A cell with a probability, empty where nothing was tested. */
export function probabilityCell(p: number | null): Cell {
  return p === null ? none : textCell(formatProbability(p));
}

/** The verdict in words, with the number of items that a decision needs. */
export function verdictText({ verdict, n, neededItems }: Pick<Comparison, 'verdict' | 'n' | 'neededItems'>): string {
  if (verdict === 'identical') return `identical on ${n} of ${n}`;
  return neededItems === undefined ? verdict : `${verdict} (needs ${neededItems} items)`;
}

/** A comparison of logarithms as the ratio `a ÷ b` with its interval; `scale` 100 makes it a percentage. */
export function ratioCell(
  compared: Pick<Comparison, 'delta' | 'low' | 'high'> | undefined,
  scale = 1,
  digits = 1,
): Cell {
  if (compared === undefined) return none;
  const [mean, low, high] = [compared.delta, compared.low, compared.high].map(Math.exp) as [number, number, number];
  return estimateCell({ mean, low, high }, scale, digits);
}

/** The columns of a pair's counts. */
export const countColumns: readonly ItemColumn<Pick<Comparison, 'n' | 'users' | 'wins' | 'losses' | 'ties'>>[] = (
  ['n', 'users', 'wins', 'losses', 'ties'] as const
).map((key) => countColumn(key, key, (compared) => compared[key]));

/** The columns of p values, of a metric of quality with the test of a loss within the margin. */
export function testColumns(isQuality: boolean): ItemColumn<Pick<Comparison, 'p' | 'pAdjusted' | 'pKept'>>[] {
  return [
    numberColumn('p', 'p', ({ p }) => probabilityCell(p)),
    numberColumn('pAdjusted', 'p (Holm)', ({ pAdjusted }) => probabilityCell(pAdjusted)),
    ...(isQuality
      ? [numberColumn('pKept', 'p (kept)', ({ pKept }: Pick<Comparison, 'pKept'>) => probabilityCell(pKept))]
      : []),
  ];
}

function judgedColumns(cost: ShownCost | undefined, quality: ShownMetric | undefined): ItemColumn<Comparison>[] {
  const verdict = textColumn('verdict', 'verdict', (compared: Comparison) => verdictText(compared));
  if (cost === undefined) {
    const difference = (compared: Comparison) => quality?.difference(compared) ?? differenceCell(compared);
    return [intervalColumn('difference', `a − b (${quality?.differenceHeading ?? ''})`, difference), verdict];
  }
  const { unit, meanUnit, isRatio } = cost;
  const mean = (key: string, arm: 'a' | 'b') =>
    numberColumn(key, `${arm}${meanUnit}`, ({ means }: Comparison) => means?.[arm], isRatio ? 2 : 1);
  return [
    mean('meanA', 'a'),
    mean('meanB', 'b'),
    intervalColumn('difference', `${isRatio ? 'a ÷ b' : 'a − b'} (${unit})`, (compared) =>
      isRatio ? ratioCell(compared, 100) : differenceCell(compared),
    ),
    verdict,
  ];
}

function notes(cost: ShownCost | undefined, isTested: boolean, { run }: RunResults): string[] {
  const tooFew = tooFewUsers(run);
  return [
    ...(cost?.isRatio
      ? ['a and b: geometric means over the same turns, whose ratio is a ÷ b.', ...loadNotes(run)]
      : []),
    ...(isTested
      ? [`Intervals ${intervalUnit(run)}; p by sign-flip, adjusted (Holm) over the planned comparisons of this table.`]
      : []),
    ...(isTested && cost === undefined
      ? [
          'p (kept): one-sided, of a loss of the margin or more, adjusted likewise; kept below .025. Detectable: the smallest',
          'true difference that these items would show four times in five. Needs: items with which arms that do not differ',
          'would be called kept as often.',
        ]
      : []),
    ...(isTested && tooFew !== undefined ? [`No verdict: ${tooFew}.`] : []),
  ];
}

const detectable = ({ differenceHeading, scale, digits }: ShownMetric): ItemColumn<Comparison> =>
  numberColumn(
    'detectable',
    `detectable (${differenceHeading})`,
    (one) => one.detectable && one.detectable * scale,
    digits,
  );

/** One table of paired comparisons: difference, interval, verdict and counts. */
function comparisonsTable(metric: string, results: RunResults): Table {
  const quality = metricNamed(results.run, metric);
  const costName = costNames.find((one) => one === metric);
  const cost = costName && costs[costName];
  // Without a primary arm nothing tells hits from other turns.
  const over = cost === undefined || primaryArm(results.arms) === undefined ? '' : `, ${cost.over}`;
  const compared = results.comparisons.filter((comparison) => comparison.metric === metric);
  const isTested = compared.some(({ p }) => p !== null);
  return {
    id: `comparisons-${metric.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    caption: titleWithProof(`Paired by item: ${cost?.title ?? quality?.title ?? metric}${over}`, results),
    rowHeading: 'a vs b',
    ...itemRows(compared, ({ a, b }) => `${a} : ${b}`, [
      { columns: [...judgedColumns(cost, quality), ...(isTested ? testColumns(quality !== undefined) : [])] },
      {
        title: 'Items by a vs b',
        columns: [...countColumns, ...(isTested && quality !== undefined ? [detectable(quality)] : [])],
      },
    ]),
    notes: notes(cost, isTested, results),
  };
}

/** Tables of the paired comparisons, one for each metric and each cost. */
export function comparisonsTables(results: RunResults): Table[] {
  const metrics = [...new Set(results.comparisons.map(({ metric }) => metric))];
  return metrics.map((metric) => comparisonsTable(metric, results));
}
