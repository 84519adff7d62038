/** Methods: table and figure 11 (cost and quality), tables 11b (by rank of the evidence) and 13 (claims of papers). */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { type Difference, formatNumber, formatRatio } from '../../render/format-number.ts';
import {
  countColumn,
  estimateCell,
  formatCell,
  intervalColumn,
  type ItemBlock,
  numberCell,
  numberColumn,
  sentenceColumn,
  type Table,
  textColumn,
  titled,
} from '../../render/table.ts';
import {
  type ArmResults,
  type EvidenceRank,
  evidenceRanks,
  type MethodResults,
  type RunResults,
} from '../../store/records/run-results.ts';
import { methodEncoding } from '../figures/arm-encoding.ts';
import { distinct, fieldQuantity, intervalLayer, MEANS, measuredScale, quantity } from '../figures/figure-parts.ts';
import { baselineArm, findComparison, primaryArm } from '../find-arms-and-comparisons.ts';
import { type MetricDisplay, metricsNamed, primaryMetric, qualityCell } from '../metric-display.ts';
import { probabilityCell, ratioCell } from '../tables/arm-comparisons-tables.ts';
import { fidelityBlock } from '../tables/arm-results-table.ts';
import { differenceToBaseline, runTable, withArmsNotRun } from '../tables/table-parts.ts';
import { capitalised, groupDifferences, listed, lossText } from '../verdict-wording.ts';

type Method = ArmResults & MethodResults;

/** Names of the deployable arms that no other deployable arm beats in both quality and time to first token. */
function frontier({ run }: RunResults, methods: readonly Method[]): ReadonlySet<string> {
  const primary = primaryMetric(run);
  const sign = primary.declared.direction === 'higher' ? 1 : -1;
  const points = methods.flatMap(({ arm, timesQueryOnly, traits, metrics }) => {
    const quality = primary.of(metrics);
    if (traits.deployable === false || quality === null || timesQueryOnly === null) return [];
    return [{ arm, quality: sign * quality.mean, time: timesQueryOnly.mean }];
  });
  const isBeaten = (point: (typeof points)[number]): boolean =>
    points.some(
      ({ quality, time }) =>
        quality >= point.quality && time <= point.time && (quality > point.quality || time < point.time),
    );
  return new Set(points.filter((point) => !isBeaten(point)).map(({ arm }) => arm));
}

/**
 * The mean of the baseline by the primary metric, a share, over the items that an arm answered; undefined if it is 0 or unknown. Controls
 * and arms that retrieve the evidence have fewer items than others.
 */
function baselineMean(results: RunResults, { arm, metrics }: ArmResults): number | undefined {
  const [primary, baseline] = [primaryMetric(results.run), baselineArm(results.arms)];
  const [own, text] = [primary.of(metrics), primary.of(baseline?.metrics)];
  if (own === null || text === null || primary.unit !== '%') return undefined;
  const compared = findComparison(results, arm, baseline!.arm, primary.name);
  const mean = own.n === text.n ? text.mean : compared?.n === own.n ? own.mean - compared.delta : 0;
  return mean < 1e-9 ? undefined : mean;
}

/** The primary metric of an arm in % of the baseline's, over the same items; undefined if that is unknown. */
export function keptShare(results: RunResults, arm: ArmResults): number | undefined {
  const text = baselineMean(results, arm);
  return text && (100 * primaryMetric(results.run).of(arm.metrics)!.mean) / text;
}

const splitNotes = {
  development: 'Development users: used to choose methods, which are reported on test users.',
  test: 'Test users: the reported method was chosen on development users.',
  none: 'These data have no split of users: a method chosen on them must be tested on other data.',
};

/** Table 11: methods by cost and quality; undefined for a run that compares none. */
export function methodsTable(results: RunResults): Table | undefined {
  const { run, arms } = results;
  if (results.methods === undefined) return undefined;
  // Joins each method with its arm, so that columns of arms work for methods.
  const methods = results.methods.map((method) => ({ ...arms.find(({ arm }) => arm === method.arm)!, ...method }));
  const [primary, f1] = metricsNamed(run, primaryMetric(run).name, 'tokenF1') as [MetricDisplay, MetricDisplay];
  const hits = primaryArm(arms)?.arm;
  const best = frontier(results, methods);
  const timesRag = ({ arm }: Method) => findComparison(results, arm, baselineArm(arms)?.arm, 'ttftLogRatio');
  const table = runTable<Method>(results, methods, ({ arm }) => arm, {
    id: 'table-11',
    title: `Table 11. Methods at equal budgets, their cost and quality: ${run.dataset.name}`,
    blocks: [
      titled('Cost', [
        textColumn('budget', 'budget', ({ budget }) => budget),
        countColumn('bytes', 'KV bytes per memory token', ({ bytesPerMemoryToken }) => bytesPerMemoryToken),
        numberColumn('recomputed', 'tokens recomputed', ({ recomputedTokens }) => recomputedTokens),
        numberColumn('evaluated', 'tokens evaluated', ({ tokens }) => tokens?.evaluated),
        numberColumn('firstLayers', 'tokens in the first layers', ({ tokens }) => tokens?.firstLayers),
        intervalColumn('timesQueryOnly', 'TTFT vs query only', (one) => estimateCell(one.timesQueryOnly, 1, 2)),
        intervalColumn('timesRag', 'TTFT vs RAG', (one) => ratioCell(timesRag(one), 1)),
      ]),
      titled('Quality', [
        primary.column(),
        differenceToBaseline(results, primary),
        numberColumn('kept', 'share of RAG (%)', (one) => qualityCell(run, numberCell(keptShare(results, one)))),
        primary.name !== f1.name && f1.column(),
        textColumn('frontier', 'on the frontier', ({ arm }) => (best.has(arm) ? 'yes' : null)),
      ]),
      fidelityBlock(results),
      titled('Against as many random tokens', [
        textColumn('control', 'control', ({ againstRandom }) => againstRandom?.b),
        primary.differenceColumn('againstRandom', 'Δ vs random tokens', ({ againstRandom }) => againstRandom),
        numberColumn('p', 'p (Holm)', ({ againstRandom }) => probabilityCell(againstRandom?.pAdjusted)),
        textColumn('outcome', 'outcome', ({ againstRandom }) => againstRandom?.outcome),
      ]),
    ],
    notes: [
      ...(hits === undefined
        ? ['Tokens and times are over all turns: without dki, the run has no cache hits and no query-only time.']
        : [
            `Tokens and times are over the cache hits of ${hits}, the same turns for every arm. Query only: the TTFT of ${hits} less the`,
            'time to load its KV. Ranges of recomputed tokens are loaded, evaluated and spliced one by one; a fused kernel would be faster.',
          ]),
      'KV bytes per memory token: keys and values as stored, without the header. Text arms store no KV.',
      'On the frontier: by these means, no other deployable arm is faster and at least as good, or better and at least as fast.',
      `Each method is tested by ${primary.label} against as many random tokens, as one family, by sign-flip over users. Bounds are not tested.`,
      splitNotes[run.dataset.split ?? 'none'],
    ],
  });
  return withArmsNotRun(table, run, 'budget');
}

const rankTitles: Readonly<Record<EvidenceRank, string>> = {
  first: 'Evidence retrieved first',
  second: 'Evidence retrieved second',
  later: 'Evidence retrieved later',
};

/** Table 11b: methods by the retriever's rank of the evidence; undefined without methods or ranks. */
export function methodsByRankTable(results: RunResults): Table | undefined {
  const { run, methods = [] } = results;
  const primary = primaryMetric(run);
  const blocks = evidenceRanks.flatMap((rank): ItemBlock<MethodResults>[] => {
    const part = ({ byRank }: MethodResults) => byRank.find((one) => one.rank === rank);
    const items = methods.flatMap((method) => part(method)?.quality.n ?? []);
    if (items.length === 0) return [];
    return [
      titled(`${rankTitles[rank]}, ${Math.max(...items)} items`, [
        intervalColumn(`${rank}:quality`, primary.heading, (method) =>
          estimateCell(part(method)?.quality, primary.scale, primary.digits),
        ),
        primary.differenceColumn(`${rank}:difference`, 'Δ vs RAG', (method) => part(method)?.difference),
      ]),
    ];
  });
  if (blocks.length === 0) return undefined;
  return runTable(results, methods, ({ arm }) => arm, {
    id: 'table-11b',
    title: `Table 11b. Methods by the retrieval rank of the evidence: ${run.dataset.name}`,
    blocks,
    notes: [
      'If several memories are evidence, the rank is that of the one retrieved last. Items without retrieved evidence are left out.',
      'Differences are not tested, since there are many: there is no verdict.',
    ],
  });
}

/** A claim of a paper, its source, and the arms of this bench that come closest. */
const claim = z.strictObject({
  paper: z.string(),
  /** URL of the source. */
  address: z.url(),
  claim: z.string(),
  /** Null if unknown. */
  model: z.string().nullable(),
  data: z.string().nullable(),
  measured: z
    .array(
      z.strictObject({
        arm: z.string(),
        /** What to show: the primary metric in % of text, the difference to text, or the ratio of times to first token. */
        as: z.enum(['kept', 'difference', 'time']),
      }),
    )
    .min(1)
    .readonly(),
  differs: z.string(),
});

type Claim = Readonly<z.output<typeof claim>>;

/** Claims of papers, each with its source: `datasets/claims.json`. */
export const claims: readonly Claim[] = z
  .array(claim)
  .parse(JSON.parse(readFileSync(new URL('../../../datasets/claims.json', import.meta.url), 'utf8')));

/** `dki-blocks: −12.3 [−20.1, −4.5] points of exact match`; undefined if the arm did not run or has no such value. */
function measuredText(results: RunResults, { arm, as }: Claim['measured'][number]): string | undefined {
  const primary = primaryMetric(results.run);
  const found = results.arms.find((one) => one.arm === arm);
  const text = baselineArm(results.arms)?.arm;
  if (found === undefined || text === undefined) return undefined;
  if (as === 'kept') {
    const kept = keptShare(results, found);
    return kept === undefined ? undefined : `${arm}: ${formatNumber(kept, 1)} % of the ${primary.label} of ${text}`;
  }
  const compared = findComparison(results, arm, text, as === 'time' ? 'ttftLogRatio' : primary.name);
  if (compared === undefined) return undefined;
  if (as === 'time') return `${arm}: first token ${formatRatio(compared)} × that of ${text}`;
  if (compared.verdict === 'identical') return `${arm}: identical to ${text} on ${compared.n} of ${compared.n}`;
  return `${arm}: ${formatCell(primary.difference(compared))} ${primary.differenceUnit} of ${primary.label}`;
}

/** Table 13: claims of papers beside what this run measured; undefined for a run that compares no methods. */
export function claimsTable(results: RunResults): Table | undefined {
  const { run, methods } = results;
  if (methods === undefined) return undefined;
  const measuredHere = ({ measured }: Claim): string =>
    measured.flatMap((one) => measuredText(results, one) ?? []).join('; ') || 'not measured in this run';
  return runTable(results, claims, ({ paper }) => paper, {
    id: 'table-13',
    title: `Table 13. Claims of papers beside measurements on ${run.dataset.name}, ${run.model.name}`,
    rowHeading: 'paper',
    columns: [
      sentenceColumn('claim', 'claim', (one) => one.claim),
      textColumn('model', 'model', ({ model }) => model),
      textColumn('data', 'data', ({ data }) => data),
      sentenceColumn('here', 'measured here', measuredHere),
      sentenceColumn('differs', 'why it may differ', ({ differs }) => differs),
      textColumn('source', 'source', ({ address }) => address),
    ],
    notes: [
      "Claims are the authors' numbers, against a baseline of their choice. –: not known to us.",
      'Measured here: the closest arm, against the same memories as text; times are over cache hits. Other models and data neither refute nor confirm a claim.',
    ],
  });
}

function keptFields(text: number, { delta, low, high }: Difference) {
  const share = (difference: number): number => 100 * (1 + difference / text);
  const bounded = Number.isFinite(low) && Number.isFinite(high);
  return { kept: share(delta), low: bounded ? share(low) : null, high: bounded ? share(high) : null };
}

/** Each method at each budget: quality in % of text, and TTFT relative to query-only. */
function methodPoints(results: RunResults, { arm: text }: ArmResults, primary: MetricDisplay) {
  return (results.methods ?? []).flatMap(({ arm, method, budget, timesQueryOnly }) => {
    const ofText = baselineMean(
      results,
      results.arms.find((one) => one.arm === arm)!,
    );
    const difference = arm === text ? { delta: 0, low: 0, high: 0 } : findComparison(results, arm, text, primary.name);
    if (timesQueryOnly === null || ofText === undefined || difference === undefined) return [];
    return [{ method, arm, budget, times: timesQueryOnly.mean, ...keptFields(ofText, difference) }];
  });
}

const NAMED = 3;

function againstRandom(methods: readonly MethodResults[]): string {
  const tested = methods.filter(({ againstRandom }) => (againstRandom?.pAdjusted ?? null) !== null);
  if (tested.length === 0) return 'none was tested against randomly chosen tokens';
  const better = tested.filter(({ againstRandom }) => againstRandom!.outcome === 'better');
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
 * Figure 11: quality in % of text against time to first token, with a mark per method and a line through its budgets. Undefined if
 * quality or time is unknown, or the metric is not a share.
 */
export function methodsFigure(results: RunResults): Figure | undefined {
  const [primary, text] = [primaryMetric(results.run), baselineArm(results.arms)];
  if (results.methods === undefined || text === undefined || primary.unit !== '%') return undefined;
  const data = methodPoints(results, text, primary);
  if (data.length < 2) return undefined;
  const { stroke, shape, fill } = methodEncoding(results, distinct(data.map(({ method }) => method)));
  const scale = { type: 'log', nice: false, padding: 12 };
  const x = fieldQuantity('times', 'Time to first token ÷ that of query-only', scale, { grid: true, tickCount: 6 });
  const shares = data.map(({ kept: value, low, high }) => ({ value, low, high }));
  const y = quantity(`${primary.title}, % of that of ${text.arm}`, measuredScale(shares, 0), { tickCount: 5 });
  const kept = { ...y, field: 'kept' };
  const words = data.map(({ arm, kept, times }) => `${arm} ${kept.toFixed(0)} % at ${times.toFixed(2)} ×`);
  return {
    id: 'methods',
    title: `Figure 11. ${methodsFinding(results, text.arm, primary)}`,
    key: `${MEANS} A thin line joins the budgets of a method.`,
    description: `${primary.label} in % of text, and time to first token over cache hits relative to query-only: ${words.join('; ')}.`,
    data,
    spec: {
      width: PANEL_WIDTH,
      height: 210,
      encoding: { x, stroke },
      layer: [
        intervalLayer('y', y, { mark: { opacity: 0.25 } }),
        { mark: { type: 'line', opacity: 0.5, strokeWidth: 1 }, encoding: { y: kept, order: { field: 'times' } } },
        { mark: { type: 'point', filled: false, size: 60, strokeWidth: 1.4 }, encoding: { y: kept, shape, fill } },
      ],
    },
  };
}
