import type { ArmResults, MethodResults, RunResults } from '../../store/records/results.ts';
import { evidenceRanks } from '../../store/records/results/method-results.ts';
import { comparisonOf } from '../comparison-of.ts';
import { primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { rankTitles } from '../tables/methods-by-rank-table.ts';
import { baselineOf } from '../verdict.ts';
import { type Figure, type FigureRow, figureOf, inlineData, MEANS } from './figure.ts';
import { methodsFinding } from './methods-finding.ts';
import { methodMarks } from './method-marks.ts';
import { PANEL_WIDTH } from './theme.ts';

const ALL = 'All questions';

/** One method at one budget in one panel: quality in % of the text's, time beside the question alone. */
interface Point extends FigureRow {
  readonly panel: string;
  readonly method: string;
  readonly arm: string;
  readonly budget: string | null;
  readonly times: number;
  readonly kept: number;
  readonly low: number | null;
  readonly high: number | null;
}

interface Difference {
  readonly delta: number;
  readonly low: number;
  readonly high: number;
}

/** The quality of the text, and what the other has more or less than it. */
function keptOf(text: number, difference: Difference): Pick<Point, 'kept' | 'low' | 'high'> {
  const share = (delta: number): number => 100 * (1 + delta / text);
  const bounded = Number.isFinite(difference.low) && Number.isFinite(difference.high);
  return {
    kept: share(difference.delta),
    low: bounded ? share(difference.low) : null,
    high: bounded ? share(difference.high) : null,
  };
}

function pointsOf(results: RunResults, { arm: text, metrics }: ArmResults, primary: ShownMetric): Point[] {
  const { methods = [] } = results;
  const whole = primary.of(metrics)?.mean ?? 0;
  const ranksOfText = methods.find(({ arm }) => arm === text)?.byRank ?? [];
  const same: Difference = { delta: 0, low: 0, high: 0 };
  const panels = [ALL, ...evidenceRanks.map((rank) => rankTitles[rank])];
  const of = ({ arm, method, budget, timesQueryOnly, byRank }: MethodResults): Point[] => {
    if (timesQueryOnly === null) return [];
    const point = { method, arm, budget, times: timesQueryOnly.mean };
    const compared = arm === text ? same : comparisonOf(results, arm, text, primary.name);
    const ofAll = compared === undefined || whole === 0 ? [] : [{ panel: ALL, ...point, ...keptOf(whole, compared) }];
    const byPlace = byRank.flatMap(({ rank, difference }) => {
      const there = ranksOfText.find((part) => part.rank === rank)?.quality.mean ?? 0;
      const found = arm === text ? same : difference;
      return there === 0 || found === null ? [] : [{ panel: rankTitles[rank], ...point, ...keptOf(there, found) }];
    });
    return [...ofAll, ...byPlace];
  };
  const points = methods.flatMap(of);
  return panels.flatMap((panel) => points.filter((one) => one.panel === panel));
}

/**
 * Figure 11: quality kept against time to first token, one mark a method, a line through its budgets; all questions, and by the
 * retriever's rank of the evidence. Undefined where either is unknown, or where quality is no share.
 */
export function methodsFigure(results: RunResults): Figure | undefined {
  const [primary, text] = [primaryMetric(results.run), baselineOf(results.arms)];
  if (results.methods === undefined || text === undefined || primary.unit !== '%') return undefined;
  const data = pointsOf(results, text, primary);
  if (data.length < 2) return undefined;
  const panels = [...new Set(data.map(({ panel }) => panel))];
  const { stroke, shape, fill } = methodMarks(results, [...new Set(data.map(({ method }) => method))]);
  const x = {
    field: 'times',
    type: 'quantitative' as const,
    scale: { type: 'log' as const, nice: false, padding: 12 },
    axis: {
      title: 'Time to first token × that of the question alone',
      grid: true,
      tickCount: 6,
    },
  };
  const y = {
    type: 'quantitative' as const,
    scale: { zero: false },
    axis: { title: `${primary.title} kept of ${text.arm}, %`, tickCount: 5 },
  };
  const words = data
    .filter(({ panel }) => panel === ALL)
    .map(({ arm, kept, times }) => `${arm} ${kept.toFixed(0)} % at ${times.toFixed(2)} ×`);
  return figureOf(results, {
    id: 'methods',
    title: `Figure 11. ${methodsFinding(results, text.arm, primary)}`,
    key: `${MEANS} A thin line joins the budgets of a method.`,
    description: `Shares of the text's ${primary.label}, and time to first token over cache hits beside the question alone: ${words.join('; ')}.`,
    data,
    spec: {
      data: inlineData(data),
      facet: { field: 'panel', type: 'nominal', sort: panels, title: null, header: { labelAnchor: 'start' } },
      columns: 1,
      spacing: 14,
      spec: {
        width: PANEL_WIDTH,
        height: 210,
        encoding: { x, stroke },
        layer: [
          {
            transform: [{ filter: 'isValid(datum.low)' }],
            mark: { type: 'rule', opacity: 0.25 },
            encoding: { y: { ...y, field: 'low' }, y2: { field: 'high' } },
          },
          {
            mark: { type: 'line', opacity: 0.5, strokeWidth: 1 },
            encoding: { y: { ...y, field: 'kept' }, order: { field: 'times' } },
          },
          {
            mark: { type: 'point', filled: false, size: 60, strokeWidth: 1.4 },
            encoding: { y: { ...y, field: 'kept' }, shape, fill },
          },
        ],
      },
    },
  });
}
