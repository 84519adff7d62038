/** Tables of methods: 11 (cost and quality) and 11b (by rank of the evidence). */
import { type ArmResults, type EvidenceRank, evidenceRanks, type MethodResults, type RunResults } from '../../store/records/run-results.ts'; // prettier-ignore
import { countColumn, estimateCell, intervalColumn, type ItemBlock, numberCell, numberColumn, type Table, textColumn, titled } from '../../render/table.ts'; // prettier-ignore
import { baselineArm, primaryArm, findComparison } from '../find-arms-and-comparisons.ts';
import { metricsNamed, primaryMetric, qualityCell, type MetricDisplay } from '../metric-display.ts';
import { differenceToBaseline, runTable, withArmsNotRun } from './table-parts.ts';
import { probabilityCell, ratioCell } from './arm-comparisons-tables.ts';
import { fidelityBlock } from './arm-results-table.ts';

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
export function baselineMean(results: RunResults, { arm, metrics }: ArmResults): number | undefined {
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

export const rankTitles: Readonly<Record<EvidenceRank, string>> = {
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
