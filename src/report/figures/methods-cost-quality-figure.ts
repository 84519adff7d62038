import { type Figure, type FigureRow, PANEL_WIDTH } from '../../render/figure.ts';
import type { Difference } from '../../render/format-number.ts';
import { type ArmResults, evidenceRanks, type MethodResults, type RunResults } from '../../store/records/run-results.ts'; // prettier-ignore
import { type MetricDisplay, primaryMetric } from '../metric-display.ts';
import { baselineMean, rankTitles } from '../tables/methods-cost-quality-tables.ts';
import { baselineArm, findComparison } from '../find-arms-and-comparisons.ts';
import { methodEncoding } from './arm-encoding.ts';
import { distinct, facets, fieldQuantity, intervalLayer, MEANS, measuredScale, quantity } from './figure-parts.ts';
import { capitalised, listed, lossText, groupDifferences } from '../verdict-wording.ts';

const ALL = 'All questions';

/** One method at one budget in one panel: quality in % of text, and TTFT relative to query-only. */
interface Point extends ReturnType<typeof keptFields>, FigureRow {
  readonly panel: string;
  readonly method: string;
  readonly arm: string;
  readonly budget: string | null;
  readonly times: number;
}

function keptFields(text: number, { delta, low, high }: Difference) {
  const share = (difference: number): number => 100 * (1 + difference / text);
  const bounded = Number.isFinite(low) && Number.isFinite(high);
  return { kept: share(delta), low: bounded ? share(low) : null, high: bounded ? share(high) : null };
}

function methodPoints(results: RunResults, { arm: text }: ArmResults, primary: MetricDisplay): Point[] {
  const { methods = [] } = results;
  const ranksOfText = methods.find(({ arm }) => arm === text)?.byRank ?? [];
  const same: Difference = { delta: 0, low: 0, high: 0 };
  const panels = [ALL, ...evidenceRanks.map((rank) => rankTitles[rank])];
  const of = ({ arm, method, budget, timesQueryOnly, byRank }: MethodResults): Point[] => {
    if (timesQueryOnly === null) return [];
    const point = { method, arm, budget, times: timesQueryOnly.mean };
    const compared = arm === text ? same : findComparison(results, arm, text, primary.name);
    const own = results.arms.find((one) => one.arm === arm)!;
    const whole = baselineMean(results, own);
    const ofAll =
      compared === undefined || whole === undefined ? [] : [{ panel: ALL, ...point, ...keptFields(whole, compared) }];
    const byPlace = byRank.flatMap(({ rank, difference }) => {
      const there = ranksOfText.find((part) => part.rank === rank)?.quality.mean ?? 0;
      const found = arm === text ? same : difference;
      return there === 0 || found === null ? [] : [{ panel: rankTitles[rank], ...point, ...keptFields(there, found) }];
    });
    return [...ofAll, ...byPlace];
  };
  const points = methods.flatMap(of);
  return panels.flatMap((panel) => points.filter((one) => one.panel === panel));
}

const NAMED = 3;

function againstRandom(methods: readonly MethodResults[]): string {
  const tested = methods.filter(({ againstRandom: difference }) => (difference?.pAdjusted ?? null) !== null);
  if (tested.length === 0) return 'none was tested against randomly chosen tokens';
  const better = tested.filter(({ againstRandom: difference }) => difference!.outcome === 'better');
  if (better.length === 0) return `none of ${tested.length} is shown to be better than randomly chosen tokens`;
  const more = better.length > NAMED ? [`${better.length - NAMED} more`] : [];
  const named = listed([...better.slice(0, NAMED).map(({ arm }) => arm), ...more]);
  return `${better.length} of ${tested.length} ${better.length === 1 ? 'is' : 'are'} better than randomly chosen tokens: ${named}`;
}

function methodsFinding(results: RunResults, text: string, metric: MetricDisplay): string {
  const { comparisons, methods = [] } = results;
  const own = methods.filter(({ kind }) => kind !== 'reference');
  const names = new Set(own.map(({ arm }) => arm));
  const compared = comparisons.filter((one) => one.metric === metric.name && one.b === text && names.has(one.a));
  const { lower } = groupDifferences(compared);
  const most = lower.toSorted((a, b) => a.delta - b.delta)[0];
  const losing =
    most === undefined
      ? `none of ${compared.length} methods is shown to lose ${metric.label} against ${text}`
      : `${lower.length} of ${compared.length} methods lose ${metric.label} against ${text} by their 95 % intervals, ${most.a} most: ${lossText(most, metric)}`;
  return `${capitalised(losing)}; ${againstRandom(own)}`;
}

/**
 * Figure 11: quality in % of text against time to first token, with a mark per method and a line through its budgets. Panels: all
 * questions, and by the retrieval rank of the evidence. Undefined if quality or time is unknown, or the metric is not a share.
 */
export function methodsFigure(results: RunResults): Figure | undefined {
  const [primary, text] = [primaryMetric(results.run), baselineArm(results.arms)];
  if (results.methods === undefined || text === undefined || primary.unit !== '%') return undefined;
  const data = methodPoints(results, text, primary);
  if (data.length < 2) return undefined;
  const panels = distinct(data.map(({ panel }) => panel));
  const { stroke, shape, fill } = methodEncoding(results, distinct(data.map(({ method }) => method)));
  const scale = { type: 'log', nice: false, padding: 12 };
  const x = fieldQuantity('times', 'Time to first token ÷ that of query-only', scale, { grid: true, tickCount: 6 });
  const shares = data.map(({ kept: value, low, high }) => ({ value, low, high }));
  const y = quantity(`${primary.title}, % of that of ${text.arm}`, measuredScale(shares, 0), { tickCount: 5 });
  const kept = { ...y, field: 'kept' };
  const words = data
    .filter(({ panel }) => panel === ALL)
    .map(({ arm, kept, times }) => `${arm} ${kept.toFixed(0)} % at ${times.toFixed(2)} ×`);
  return {
    id: 'methods',
    title: `Figure 11. ${methodsFinding(results, text.arm, primary)}`,
    key: `${MEANS} A thin line joins the budgets of a method.`,
    description: `${primary.label} in % of text, and time to first token over cache hits relative to query-only: ${words.join('; ')}.`,
    data,
    spec: facets('panel', panels, 1, {
      width: PANEL_WIDTH,
      height: 210,
      encoding: { x, stroke },
      layer: [
        intervalLayer('y', y, { mark: { opacity: 0.25 } }),
        { mark: { type: 'line', opacity: 0.5, strokeWidth: 1 }, encoding: { y: kept, order: { field: 'times' } } },
        { mark: { type: 'point', filled: false, size: 60, strokeWidth: 1.4 }, encoding: { y: kept, shape, fill } },
      ],
    }),
  };
}
