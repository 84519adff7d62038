import { totals, wayName } from '../../eval/analysis/summary/length-break-even.ts';
import { quantiles } from '../../eval/analysis/statistics/estimate-mean.ts';
import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/format-number.ts';
import { atFullLayers } from '../../store/records/suite-measurements.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { categories, distinct, facets, fieldQuantity, logarithmicTicks } from './figure-parts.ts';

const colours = { text: '#6b6f71', resident: '#8a6d00', prefix: '#268eea', blocks: '#ad420a' };
const shapes = { text: 'circle', resident: 'square', prefix: 'triangle-up', blocks: 'diamond' };
const dashes = { f16: [1, 0], q8_0: [5, 3], q4_0: [1.5, 2] };

/** Figure 14: time to first token by length of the memories, a panel for each tier, with text and resident KV in each. */
export function lengthFigure(results: RunResults): Figure | undefined {
  const measured = atFullLayers(results.measured?.length ?? []);
  const tiers = distinct(measured.flatMap(({ tier }) => tier ?? []));
  if (tiers.length === 0) return undefined;
  const data = tiers.flatMap((panel) =>
    measured
      .filter(({ tier }) => tier === null || tier === panel)
      .map((row) => ({
        panel,
        way: row.way,
        type: row.type ?? 'f16',
        line: `${row.way} ${row.type}`,
        memoryTokens: row.tokens,
        ms: quantiles(totals(row)).p50,
      })),
  );
  const longest = Math.max(...measured.map(({ tokens }) => tokens));
  const words = measured
    .filter(({ tokens }) => tokens === longest)
    .map((row) => `${wayName(row)} ${formatNumber(quantiles(totals(row)).p50, 0)} ms`);
  const lengths = { grid: true, values: distinct(measured.map(({ tokens }) => tokens)), format: ',d' };
  const ticks = logarithmicTicks(data.map(({ ms }) => ms));
  const scale = { type: 'log', domain: [ticks[0], ticks.at(-1)] };
  return {
    id: 'length',
    title: 'Figure 14. Time to first token by length of the memories and tier of their KV',
    key: 'Medians. Resident: the query alone, behind KV that is in the session.',
    description: `Median time to first token at ${longest} tokens: ${words.join('; ')}.`,
    data,
    spec: facets('panel', tiers, 1, {
      width: PANEL_WIDTH,
      height: 150,
      encoding: {
        x: fieldQuantity('memoryTokens', 'Tokens of the memories', { type: 'log', nice: false }, lengths),
        y: fieldQuantity('ms', 'Time to first token, ms', scale, { grid: true, values: ticks, format: ',d' }),
        color: categories('way', colours),
        detail: { field: 'line', type: 'nominal' },
      },
      layer: [
        {
          mark: 'line',
          encoding: { strokeDash: categories('type', dashes, { symbolType: 'stroke', symbolSize: 200 }) },
        },
        { mark: { type: 'point', size: 30 }, encoding: { shape: categories('way', shapes) } },
      ],
    }),
  };
}
