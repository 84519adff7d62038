import type { ArmPair } from '../eval/analysis/compare/comparability.ts';
import type { RunsComparison } from '../eval/analysis/compare/compare-runs.ts';
import type { MetricDifference } from '../eval/analysis/compare/metric-differences.ts';
import { probabilityCell, verdictText } from './tables/comparisons-table.ts';
import { type Cell, type Column, countCell, estimateCell, meanCell, type Table, textCell } from '../render/table.ts';

/** The metrics that the terminal shows beside the primary one; the others are in the JSON document. */
const SHOWN = ['abstention', 'taskSuccess'];

/** The name of a pair: `rag`, or `rag / dki` for different arms of the two runs. */
export function pairName({ a, b }: ArmPair): string {
  return a === b ? a : `${a} / ${b}`;
}

function countColumns(): Column[] {
  const headings = { n: 'items', users: 'users', wins: 'won', losses: 'lost', ties: 'tied' };
  return Object.entries(headings).map(([key, heading]): Column => ({ key, heading, align: 'right' }));
}

function countCells({ n, users, wins, losses, ties }: MetricDifference): Record<string, Cell> {
  return {
    n: countCell(n),
    users: countCell(users),
    wins: countCell(wins),
    losses: countCell(losses),
    ties: countCell(ties),
  };
}

function qualityTable({ a, b, differences, metrics, primary }: RunsComparison): Table {
  const shown = differences.flatMap((difference) => {
    const { metric } = difference;
    const declared = metrics.find(({ name }) => name === metric);
    return declared !== undefined && (metric === primary || SHOWN.includes(metric)) ? [{ difference, declared }] : [];
  });
  // Rows of several units name theirs.
  const several = shown.some(({ declared }) => declared.unit !== '%');
  const units = several ? {} : { value: { unit: '%' }, difference: { unit: 'points' } };
  return {
    id: 'compare-quality',
    caption: `Quality: ${a.name} (A) against ${b.name} (B), paired by item`,
    rowHeading: 'arm: metric',
    blocks: [
      {
        columns: [
          { key: 'meanA', heading: 'A', ...units.value, align: 'right' },
          { key: 'meanB', heading: 'B', ...units.value, align: 'right' },
          { key: 'difference', heading: 'A − B', ...units.difference, align: 'right', interval: true },
          { key: 'verdict', heading: 'verdict', align: 'left' },
        ],
      },
      {
        columns: [
          { key: 'p', heading: 'p', align: 'right' },
          { key: 'pAdjusted', heading: 'Holm', align: 'right' },
          { key: 'pKept', heading: 'p(kept)', align: 'right' },
          ...countColumns(),
        ],
      },
    ],
    rows: shown.map(({ difference, declared: { label, unit } }) => {
      const [scale, digits] = unit === '%' ? ([100, 1] as const) : ([1, 3] as const);
      const mean = (value: number): Cell => ({ kind: 'number', value: value * scale, digits });
      const { delta, low, high } = difference;
      return {
        label: `${pairName(difference.arms)}: ${label}${several ? `, ${unit}` : ''}`,
        cells: {
          meanA: mean(difference.meanA),
          meanB: mean(difference.meanB),
          difference: estimateCell({ mean: delta, low, high }, scale, digits),
          verdict: textCell(verdictText(difference)),
          p: probabilityCell(difference.p),
          pAdjusted: probabilityCell(difference.pAdjusted),
          pKept: probabilityCell(difference.pKept),
          ...countCells(difference),
        },
      };
    }),
    notes: [
      'Intervals and p over users; Holm: over the arms of one metric; p(kept): of a loss of the margin or more, likewise.',
      'Other metrics, such as token F1 and the log-probability of the gold: see --json.',
    ],
  };
}

function evaluatedTable({ differences }: RunsComparison): Table {
  return {
    id: 'compare-evaluated-tokens',
    caption: 'Evaluated tokens a turn, over cache hits of both runs',
    rowHeading: 'arm',
    blocks: [
      {
        columns: [
          { key: 'meanA', heading: 'A', align: 'right' },
          { key: 'meanB', heading: 'B', align: 'right' },
          { key: 'difference', heading: 'A − B', unit: 'tokens', align: 'right', interval: true },
        ],
      },
      { columns: countColumns() },
    ],
    rows: differences
      .filter(({ metric }) => metric === 'evaluatedTokens')
      .map((difference) => ({
        label: pairName(difference.arms),
        cells: {
          meanA: meanCell(difference.meanA),
          meanB: meanCell(difference.meanB),
          difference: estimateCell({ mean: difference.delta, low: difference.low, high: difference.high }),
          ...countCells(difference),
        },
      })),
    notes: [],
  };
}

function latencyTable({ differences }: RunsComparison): Table {
  return {
    id: 'compare-ttft',
    caption: 'Time to first token, over cache hits of both runs',
    rowHeading: 'arm',
    blocks: [
      {
        columns: [
          { key: 'meanA', heading: 'A', unit: 'ms', align: 'right' },
          { key: 'meanB', heading: 'B', unit: 'ms', align: 'right' },
          { key: 'difference', heading: 'A ÷ B', unit: '%', align: 'right', interval: true },
        ],
      },
      { columns: countColumns() },
    ],
    rows: differences
      .filter(({ metric }) => metric === 'ttftLogRatio')
      .map((difference) => {
        const [mean, low, high] = [difference.delta, difference.low, difference.high].map(Math.exp);
        return {
          label: pairName(difference.arms),
          cells: {
            meanA: meanCell(difference.meanA),
            meanB: meanCell(difference.meanB),
            difference: estimateCell({ mean: mean!, low: low!, high: high! }, 100),
            ...countCells(difference),
          },
        };
      }),
    notes: [
      'A and B: geometric means over the same turns, whose ratio is A ÷ B.',
      'No verdict: the runs were made at different times, and no A/A twin measures the noise between them.',
    ],
  };
}

/** Tables of the differences of two runs: quality, evaluated tokens, and times if they can be compared. */
export function runsComparisonTables(comparison: RunsComparison): Table[] {
  const tables = [qualityTable(comparison), evaluatedTable(comparison), latencyTable(comparison)];
  return tables.filter(({ rows }) => rows.length > 0);
}
