import type { Comparison, CostName, RunResults } from '../../store/records/results.ts';
import { costNames } from '../../store/records/results/comparison.ts';
import { metricNamed, type ShownMetric } from '../shown-metric.ts';
import { loadNotes } from '../load-notes.ts';
import {
  captionOf,
  type Cell,
  type Column,
  countCell,
  estimateCell,
  none,
  type Table,
  textCell,
} from '../../render/table.ts';
import { intervalsOver, tooFewUsers } from '../users-text.ts';
import { primaryOf } from '../verdict.ts';

interface ShownCost {
  readonly title: string;
  readonly over: string;
  readonly unit: string;
  /** Of the means beside a ratio. */
  readonly meanUnit?: string;
}

/** Costs, which are no metric of quality. */
const costs: Readonly<Record<CostName, ShownCost>> = {
  ttftLogRatio: { title: 'Time to first token', over: 'cache hits', unit: '% of b', meanUnit: 'ms' },
  evaluatedTokens: { title: 'Evaluated tokens a turn', over: 'cache hits', unit: 'tokens' },
  ttftLogRatioAll: { title: 'Time to first token', over: 'all turns', unit: '% of b', meanUnit: 'ms' },
  evaluatedTokensAll: { title: 'Evaluated tokens a turn', over: 'all turns', unit: 'tokens' },
};

function costOf(metric: string): ShownCost | undefined {
  const name = costNames.find((one) => one === metric);
  return name === undefined ? undefined : costs[name];
}

function isRatio(metric: string): boolean {
  return costOf(metric)?.meanUnit !== undefined;
}

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

/** The difference in the unit of its metric; a log-ratio becomes a percentage of b. */
function differenceOf({ metric, delta, low, high }: Comparison, quality: ShownMetric | undefined): Cell {
  if (isRatio(metric)) {
    return estimateCell({ mean: Math.exp(delta), low: Math.exp(low), high: Math.exp(high) }, 100);
  }
  const difference = { mean: delta, low, high };
  return quality === undefined ? estimateCell(difference) : quality.difference(difference);
}

function columnsOf(metric: string, unit: string): readonly Column[] {
  const meanUnit = costOf(metric)?.meanUnit;
  const mean = (key: string, heading: string): Column => ({
    key,
    heading,
    align: 'right',
    ...(meanUnit === undefined ? {} : { unit: meanUnit }),
  });
  const judged: Column[] = [
    { key: 'difference', heading: isRatio(metric) ? 'a ÷ b' : 'a − b', unit, align: 'right', interval: true },
    { key: 'verdict', heading: 'verdict', align: 'left' },
  ];
  return costOf(metric) === undefined ? judged : [mean('meanA', 'a'), mean('meanB', 'b'), ...judged];
}

function notesOf(metric: string, tested: boolean, results: RunResults): string[] {
  const tooFew = tooFewUsers(results.run);
  return [
    ...(isRatio(metric)
      ? ['a and b: geometric means over the same turns, whose ratio is a ÷ b.', ...loadNotes(results.run)]
      : []),
    ...(tested
      ? [
          `Intervals ${intervalsOver(results.run)}; p by sign-flip, Holm: adjusted over the planned comparisons of this table.`,
        ]
      : []),
    ...(tested && costOf(metric) === undefined
      ? [
          'p(kept): of "the loss is the margin or more", one-sided, adjusted likewise; kept below .025. Detectable: the smallest',
          'true difference that these items would show four times in five. Needs: items with which arms that do not differ',
          'would be called kept as often.',
        ]
      : []),
    ...(tested && tooFew !== undefined ? [`No verdict: ${tooFew}.`] : []),
  ];
}

/** One table of paired comparisons: difference, interval, verdict and counts. */
function comparisonsTable(metric: string, results: RunResults): Table {
  const quality = metricNamed(results.run, metric);
  const cost = costOf(metric);
  // Without a primary arm nothing tells hits from other turns.
  const over = cost === undefined || primaryOf(results.arms) === undefined ? '' : `, ${cost.over}`;
  const title = `${cost?.title ?? quality?.title ?? metric}${over}`;
  const unit = cost?.unit ?? quality?.differenceUnit ?? '';
  const compared = results.comparisons.filter((comparison) => comparison.metric === metric);
  const tested = compared.some(({ p }) => p !== null);
  const count = (key: string): Column => ({ key, heading: key, align: 'right' });
  const counts = ['n', 'users', 'wins', 'losses', 'ties'].map(count);
  const tests: Column[] = [
    count('p'),
    { key: 'pAdjusted', heading: 'Holm', align: 'right' },
    ...(quality === undefined ? [] : [{ key: 'pKept', heading: 'p(kept)', align: 'right' } as const]),
  ];
  const detectable: Column = { key: 'detectable', heading: 'detectable', unit, align: 'right' };
  const judged = columnsOf(metric, unit);
  const mean = (value: number | undefined): Cell =>
    value === undefined ? none : { kind: 'number', value, digits: cost?.meanUnit === undefined ? 1 : 2 };
  return {
    id: `comparisons-${metric.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    caption: captionOf(`Paired by item: ${title}`, results),
    rowHeading: 'a against b',
    blocks: [
      { columns: tested ? [...judged, ...tests] : judged },
      { title: 'Items by a against b', columns: tested && quality !== undefined ? [...counts, detectable] : counts },
    ],
    rows: compared.map((comparison) => ({
      label: `${comparison.a} : ${comparison.b}`,
      cells: {
        meanA: mean(comparison.means?.a),
        meanB: mean(comparison.means?.b),
        difference: differenceOf(comparison, quality),
        verdict: textCell(verdictText(comparison)),
        p: probabilityCell(comparison.p),
        pAdjusted: probabilityCell(comparison.pAdjusted),
        pKept: probabilityCell(comparison.pKept),
        n: countCell(comparison.n),
        users: countCell(comparison.users),
        detectable:
          comparison.detectable === null
            ? none
            : { kind: 'number', value: comparison.detectable * (quality?.scale ?? 1), digits: quality?.digits ?? 1 },
        wins: countCell(comparison.wins),
        losses: countCell(comparison.losses),
        ties: countCell(comparison.ties),
      },
    })),
    notes: notesOf(metric, tested, results),
  };
}

/** Tables of the paired comparisons, one for each metric and each cost. */
export function comparisonsTables(results: RunResults): Table[] {
  const metrics = [...new Set(results.comparisons.map(({ metric }) => metric))];
  return metrics.map((metric) => comparisonsTable(metric, results));
}
