import type { Comparison, RunResults } from '../../records/results.ts';
import {
  captionOf,
  type Cell,
  type Column,
  countCell,
  estimateCell,
  meanCell,
  none,
  type Table,
  textCell,
} from '../table.ts';

const titles: Readonly<Record<Comparison['metric'], { readonly title: string; readonly unit: string }>> = {
  exactMatch: { title: 'Exact match', unit: 'points' },
  ttftLogRatio: { title: 'Time to first token', unit: '% of b' },
  evaluatedTokens: { title: 'Evaluated tokens a turn', unit: 'tokens' },
};

/** A probability as `.032` or `<.001`. */
export function formatProbability(p: number): string {
  return p < 0.001 ? '<.001' : p.toFixed(3).replace(/^0/, '');
}

/** The verdict in words, with the number of items that a decision needs. */
function verdictOf({ verdict, n, neededItems }: Comparison): string {
  if (verdict === 'identical') return `identical on ${n} of ${n}`;
  return neededItems === undefined ? verdict : `${verdict} (needs ${neededItems} items)`;
}

/** The difference in the unit of its metric; a log-ratio becomes a percentage of b. */
function differenceOf({ metric, delta, low, high }: Comparison): Cell {
  if (metric === 'ttftLogRatio') {
    return estimateCell({ mean: Math.exp(delta), low: Math.exp(low), high: Math.exp(high) }, 100);
  }
  return estimateCell({ mean: delta, low, high }, metric === 'exactMatch' ? 100 : 1);
}

/** Tables of the paired comparisons, one for each metric: difference, interval, verdict and counts. */
export function comparisonsTables(results: RunResults): Table[] {
  const metrics = [...new Set(results.comparisons.map(({ metric }) => metric))];
  return metrics.map((metric) => {
    const { title, unit } = titles[metric];
    const ratio = metric === 'ttftLogRatio';
    const compared = results.comparisons.filter((comparison) => comparison.metric === metric);
    const tested = compared.some(({ p }) => p !== null);
    const judged: Column[] = [
      { key: 'difference', heading: ratio ? 'a ÷ b' : 'a − b', unit, align: 'right', interval: true },
      { key: 'verdict', heading: 'verdict', align: 'left' },
    ];
    const tests: Column[] = [
      { key: 'p', heading: 'p', align: 'right' },
      { key: 'pAdjusted', heading: 'Holm', align: 'right' },
    ];
    const counts = (['n', 'users', 'wins', 'losses', 'ties'] as const).map((key): Column => ({
      key,
      heading: key,
      align: 'right',
    }));
    const detectable: Column = { key: 'detectable', heading: 'detectable', unit, align: 'right' };
    return {
      id: `comparisons-${metric.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      caption: captionOf(`Paired by item: ${title}`, results),
      rowHeading: 'a against b',
      blocks: [
        { columns: tested ? [...judged, ...tests] : judged },
        { title: 'Items by a against b', columns: tested ? [...counts, detectable] : counts },
      ],
      rows: compared.map((comparison) => ({
        label: `${comparison.a} : ${comparison.b}`,
        cells: {
          difference: differenceOf(comparison),
          verdict: textCell(verdictOf(comparison)),
          p: probabilityCell(comparison.p),
          pAdjusted: probabilityCell(comparison.pAdjusted),
          n: countCell(comparison.n),
          users: countCell(comparison.users),
          detectable: comparison.detectable === null ? none : meanCell(comparison.detectable * 100),
          wins: countCell(comparison.wins),
          losses: countCell(comparison.losses),
          ties: countCell(comparison.ties),
        },
      })),
      notes: tested
        ? [
            'p by sign-flip over users; Holm: adjusted over the planned comparisons. Detectable: the smallest true difference',
            'that these items would show four times in five; smaller ones may go unnoticed.',
          ]
        : [],
    };
  });
}

function probabilityCell(p: number | null): Cell {
  return p === null ? none : textCell(formatProbability(p));
}
