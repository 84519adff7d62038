import type { Comparison, RunResults } from '../../records/results.ts';
import { metricNamed, type ShownMetric } from '../shown-metric.ts';
import { captionOf, type Cell, type Column, countCell, estimateCell, none, type Table, textCell } from '../table.ts';

/** Costs, which are no metric of quality. */
const costs: Readonly<Record<string, { readonly title: string; readonly unit: string } | undefined>> = {
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
function differenceOf({ metric, delta, low, high }: Comparison, quality: ShownMetric | undefined): Cell {
  if (metric === 'ttftLogRatio') {
    return estimateCell({ mean: Math.exp(delta), low: Math.exp(low), high: Math.exp(high) }, 100);
  }
  const difference = { mean: delta, low, high };
  return quality === undefined ? estimateCell(difference) : quality.difference(difference);
}

/** Tables of the paired comparisons, one for each metric: difference, interval, verdict and counts. */
export function comparisonsTables(results: RunResults): Table[] {
  const metrics = [...new Set(results.comparisons.map(({ metric }) => metric))];
  return metrics.map((metric) => {
    const quality = metricNamed(results.run, metric);
    const title = costs[metric]?.title ?? quality?.title ?? metric;
    const unit = costs[metric]?.unit ?? quality?.differenceUnit ?? '';
    const scale = quality?.scale ?? 1;
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
          difference: differenceOf(comparison, quality),
          verdict: textCell(verdictOf(comparison)),
          p: probabilityCell(comparison.p),
          pAdjusted: probabilityCell(comparison.pAdjusted),
          n: countCell(comparison.n),
          users: countCell(comparison.users),
          detectable:
            comparison.detectable === null
              ? none
              : { kind: 'number', value: comparison.detectable * scale, digits: quality?.digits ?? 1 },
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
