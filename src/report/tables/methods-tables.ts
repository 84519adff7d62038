import {
  type ArmResults,
  type EvidenceRank,
  evidenceRanks,
  type MethodResults,
  type RunResults,
} from '../../store/records/results.ts';
import { countColumn, estimateCell, intervalColumn, type ItemBlock, type ItemColumn, itemRows, numberCell, numberColumn, type Table, textCell, textColumn } from '../../render/table.ts'; // prettier-ignore
import { baselineArm, findComparison, primaryArm } from '../compared-arms.ts';
import { titleWithProof } from '../proof.ts';
import { metricNamed, primaryMetric, qualityCell } from '../shown-metric.ts';
import { differenceToBaseline } from './arm-table.ts';
import { probabilityCell, ratioCell } from './comparisons-table.ts';
import { fidelityBlock } from './table-one.ts';

type Method = MethodResults & { readonly results: ArmResults };

/** Names of the deployable arms that no other deployable arm beats in both quality and time to first token. */
function frontier({ run }: RunResults, methods: readonly Method[]): ReadonlySet<string> {
  const primary = primaryMetric(run);
  const sign = primary.declared.direction === 'higher' ? 1 : -1;
  const points = methods.flatMap(({ arm, timesQueryOnly, results: { traits, metrics } }) => {
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

/** The primary metric of an arm in % of the baseline's; undefined where it is no share, or the baseline scores 0. */
export function keptShare({ run, arms }: Pick<RunResults, 'run' | 'arms'>, arm: ArmResults): number | undefined {
  const primary = primaryMetric(run);
  const [own, text] = [primary.of(arm.metrics), primary.of(baselineArm(arms)?.metrics ?? {})];
  if (own === null || text === null || primary.unit !== '%' || text.mean === 0) return undefined;
  return (100 * own.mean) / text.mean;
}

const ofArm = (column: ItemColumn<ArmResults>): ItemColumn<Method> => ({
  ...column,
  cell: ({ results }) => column.cell(results),
});

const price = (results: RunResults): ItemColumn<Method>[] => [
  textColumn('budget', 'budget', ({ budget }) => budget),
  countColumn('bytes', 'KV bytes per memory token', ({ bytesPerMemoryToken }) => bytesPerMemoryToken),
  numberColumn('recomputed', 'tokens recomputed', ({ recomputedTokens }) => recomputedTokens),
  numberColumn('evaluated', 'tokens evaluated', ({ results: { tokens } }) => tokens?.evaluated),
  numberColumn('firstLayers', 'tokens in the first layers', ({ results: { tokens } }) => tokens?.firstLayers),
  intervalColumn('timesQueryOnly', 'TTFT vs query only', ({ timesQueryOnly }) => estimateCell(timesQueryOnly, 1, 2)),
  intervalColumn('timesRag', 'TTFT vs RAG', ({ arm }) =>
    ratioCell(findComparison(results, arm, baselineArm(results.arms)?.arm, 'ttftLogRatio'), 1, 2),
  ),
];

function quality(results: RunResults, methods: readonly Method[]): ItemColumn<Method>[] {
  const { run } = results;
  const [primary, f1] = [primaryMetric(run), metricNamed(run, 'tokenF1')!];
  const best = frontier(results, methods);
  return [
    ofArm(primary.column()),
    differenceToBaseline(results, primary),
    numberColumn('kept', 'share of RAG (%)', (method) =>
      qualityCell(run, numberCell(keptShare(results, method.results))),
    ),
    ...(primary.name === f1.name ? [] : [ofArm(f1.column())]),
    textColumn('frontier', 'on the frontier', ({ arm }) => (best.has(arm) ? 'yes' : null)),
  ];
}

const random = (run: RunResults['run']): ItemColumn<Method>[] => [
  textColumn('control', 'control', ({ againstRandom }) => againstRandom?.b),
  primaryMetric(run).differenceColumn('againstRandom', 'Δ vs random tokens', ({ againstRandom }) => againstRandom),
  numberColumn('p', 'p (Holm)', ({ againstRandom }) => probabilityCell(againstRandom?.pAdjusted ?? null)),
  textColumn('outcome', 'outcome', ({ againstRandom }) => againstRandom?.outcome),
];

function splitNote({ dataset: { split } }: RunResults['run']): string {
  if (split === 'development') return 'Development users: methods are chosen here and reported on test users.';
  if (split === 'test') return 'Test users: the reported method was chosen on development users.';
  return 'These data have no split of users: a method that is chosen here must be tested on others.';
}

/** Table 11: methods by cost and quality; undefined for a run that compares none. */
export function methodsTable(results: RunResults): Table | undefined {
  const { run, arms } = results;
  if (results.methods === undefined) return undefined;
  const methods = results.methods.map((method) => ({
    ...method,
    results: arms.find(({ arm }) => arm === method.arm)!,
  }));
  const primary = primaryArm(arms)?.arm;
  const fidelity = fidelityBlock(results);
  const { blocks, rows } = itemRows<Method>(methods, ({ arm }) => arm, [
    { title: 'Cost', columns: price(results) },
    { title: 'Quality', columns: quality(results, methods) },
    { ...fidelity, columns: fidelity.columns.map(ofArm) },
    { title: 'Against as many random tokens', columns: random(run) },
  ]);
  return {
    id: 'table-11',
    caption: titleWithProof(`Table 11. Methods at equal budgets, their cost and quality: ${run.dataset.name}`, results),
    rowHeading: 'arm',
    blocks,
    rows: [
      ...rows,
      ...run.armsNotRun.map(({ arm, why }) => ({ label: arm, cells: { budget: textCell(`not run: ${why}`) } })),
    ],
    notes: [
      ...(primary === undefined
        ? [
            'Tokens and times are over all turns: without dki in the run there are no cache hits, and no query-only time.',
          ]
        : [
            `Tokens and times are over the cache hits of ${primary}, the same turns for every arm. Query only: the TTFT of ${primary} less the`,
            'time to load its KV. Runs of recomputed tokens are loaded, evaluated and spliced one by one: an upper bound for a kernel.',
          ]),
      'KV bytes per memory token: keys and values as stored, without the header; the bench stores none for text arms.',
      'On the frontier: no other deployable arm is both faster and as good, or as fast and better, by these means.',
      `Tested, as one family: each method against as many random tokens, by ${primaryMetric(run).label}, sign-flip over users. Bounds are not tested.`,
      splitNote(run),
    ],
  };
}

/** Titles of ranks in figures and tables. */
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
      {
        title: `${rankTitles[rank]}, ${Math.max(...items)} items`,
        columns: [
          intervalColumn(`${rank}:quality`, primary.heading, (method) =>
            estimateCell(part(method)?.quality, primary.scale, primary.digits),
          ),
          primary.differenceColumn(`${rank}:difference`, 'Δ vs RAG', (method) => part(method)?.difference),
        ],
      },
    ];
  });
  if (blocks.length === 0) return undefined;
  return {
    id: 'table-11b',
    caption: titleWithProof(`Table 11b. Methods by the retrieval rank of the evidence: ${run.dataset.name}`, results),
    rowHeading: 'arm',
    ...itemRows(methods, ({ arm }) => arm, blocks),
    notes: [
      'The rank of evidence in several memories is that of the one that was retrieved last. Items without evidence, or whose evidence',
      'was not retrieved, are left out. Ranks are not tested: there are many differences, so no verdict is given.',
    ],
  };
}
