/** Tables of methods: 11 (cost and quality), 11b (by rank of the evidence) and 13 (claims of papers). */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type ArmResults, type EvidenceRank, evidenceRanks, type MethodResults, type RunResults } from '../../store/records/run-results.ts'; // prettier-ignore
import { countColumn, estimateCell, formatCell, intervalColumn, type ItemBlock, type ItemColumn, numberCell, numberColumn, sentenceColumn, type Table, textColumn } from '../../render/table.ts'; // prettier-ignore
import { formatNumber } from '../../render/format-number.ts';
import { baselineArm, findComparison, primaryArm, ratioText } from '../arms-by-role.ts';
import { metricsNamed, primaryMetric, qualityCell, type ShownMetric } from '../metric-display.ts';
import { differenceToBaseline, runTable, withArmsNotRun } from './table-parts.ts';
import { probabilityCell, ratioCell } from './comparisons-tables.ts';
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

/** The primary metric of an arm in % of the baseline's; undefined where it is no share, or the baseline scores 0. */
export function keptShare({ run, arms }: RunResults, arm: ArmResults): number | undefined {
  const primary = primaryMetric(run);
  const [own, text] = [primary.of(arm.metrics), primary.of(baselineArm(arms)?.metrics ?? {})];
  if (own === null || text === null || primary.unit !== '%' || text.mean === 0) return undefined;
  return (100 * own.mean) / text.mean;
}

const splitNotes = {
  development: 'Development users: methods are chosen here and reported on test users.',
  test: 'Test users: the reported method was chosen on development users.',
  none: 'These data have no split of users: a method that is chosen here must be tested on others.',
};

/** Table 11: methods by cost and quality; undefined for a run that compares none. */
export function methodsTable(results: RunResults): Table | undefined {
  const { run, arms } = results;
  if (results.methods === undefined) return undefined;
  // Each as its arm, so that columns of arms are columns of methods.
  const methods = results.methods.map((method) => ({ ...arms.find(({ arm }) => arm === method.arm)!, ...method }));
  const [primary, f1] = metricsNamed(run, primaryMetric(run).name, 'tokenF1') as [ShownMetric, ShownMetric];
  const hits = primaryArm(arms)?.arm;
  const best = frontier(results, methods);
  const cost: readonly ItemColumn<Method>[] = [
    textColumn('budget', 'budget', ({ budget }) => budget),
    countColumn('bytes', 'KV bytes per memory token', ({ bytesPerMemoryToken }) => bytesPerMemoryToken),
    numberColumn('recomputed', 'tokens recomputed', ({ recomputedTokens }) => recomputedTokens),
    numberColumn('evaluated', 'tokens evaluated', ({ tokens }) => tokens?.evaluated),
    numberColumn('firstLayers', 'tokens in the first layers', ({ tokens }) => tokens?.firstLayers),
    intervalColumn('timesQueryOnly', 'TTFT vs query only', ({ timesQueryOnly }) => estimateCell(timesQueryOnly, 1, 2)),
    intervalColumn('timesRag', 'TTFT vs RAG', ({ arm }) =>
      ratioCell(findComparison(results, arm, baselineArm(arms)?.arm, 'ttftLogRatio'), 1, 2),
    ),
  ];
  const quality: readonly ItemColumn<Method>[] = [
    primary.column(),
    differenceToBaseline(results, primary),
    numberColumn('kept', 'share of RAG (%)', (method) => qualityCell(run, numberCell(keptShare(results, method)))),
    ...(primary.name === f1.name ? [] : [f1.column<Method>()]),
    textColumn('frontier', 'on the frontier', ({ arm }) => (best.has(arm) ? 'yes' : null)),
  ];
  const random: readonly ItemColumn<Method>[] = [
    textColumn('control', 'control', ({ againstRandom }) => againstRandom?.b),
    primary.differenceColumn('againstRandom', 'Δ vs random tokens', ({ againstRandom }) => againstRandom),
    numberColumn('p', 'p (Holm)', ({ againstRandom }) => probabilityCell(againstRandom?.pAdjusted ?? null)),
    textColumn('outcome', 'outcome', ({ againstRandom }) => againstRandom?.outcome),
  ];
  const table = runTable(results, methods, ({ arm }) => arm, {
    id: 'table-11',
    title: `Table 11. Methods at equal budgets, their cost and quality: ${run.dataset.name}`,
    blocks: [
      { title: 'Cost', columns: cost },
      { title: 'Quality', columns: quality },
      fidelityBlock(results),
      { title: 'Against as many random tokens', columns: random },
    ],
    notes: [
      ...(hits === undefined
        ? [
            'Tokens and times are over all turns: without dki in the run there are no cache hits, and no query-only time.',
          ]
        : [
            `Tokens and times are over the cache hits of ${hits}, the same turns for every arm. Query only: the TTFT of ${hits} less the`,
            'time to load its KV. Runs of recomputed tokens are loaded, evaluated and spliced one by one: an upper bound for a kernel.',
          ]),
      'KV bytes per memory token: keys and values as stored, without the header; the bench stores none for text arms.',
      'On the frontier: no other deployable arm is both faster and as good, or as fast and better, by these means.',
      `Tested, as one family: each method against as many random tokens, by ${primary.label}, sign-flip over users. Bounds are not tested.`,
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
  return runTable(results, methods, ({ arm }) => arm, {
    id: 'table-11b',
    title: `Table 11b. Methods by the retrieval rank of the evidence: ${run.dataset.name}`,
    blocks,
    notes: [
      'The rank of evidence in several memories is that of the one that was retrieved last. Items without evidence, or whose evidence',
      'was not retrieved, are left out. Ranks are not tested: there are many differences, so no verdict is given.',
    ],
  });
}

/** A number that a paper claims, its source, and the arms of this bench that come closest. */
const claim = z.strictObject({
  paper: z.string(),
  /** Where the number was read. */
  address: z.url(),
  claim: z.string(),
  /** Null where our notes of the paper do not say. */
  model: z.string().nullable(),
  data: z.string().nullable(),
  measured: z
    .array(
      z.strictObject({
        arm: z.string(),
        /** The primary metric in % of the text's, or less that of the text; time to first token beside that of the text. */
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

/** `dki-blocks: −12.3 [−20.1, −4.5] points of exact match`; undefined where that arm did not run, or shows nothing. */
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
  if (as === 'time') return `${arm}: first token ${ratioText(compared)} × that of ${text}`;
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
    blocks: [
      {
        columns: [
          sentenceColumn('claim', 'claim', (one) => one.claim),
          textColumn('model', 'model', ({ model }) => model),
          textColumn('data', 'data', ({ data }) => data),
          sentenceColumn('here', 'measured here', measuredHere),
          sentenceColumn('differs', 'why it may differ', ({ differs }) => differs),
          textColumn('source', 'source', ({ address }) => address),
        ],
      },
    ],
    notes: [
      "Claims are the authors' numbers, against a baseline of their choice; a claim without a source has no row. – where our notes of the paper do not say.",
      'Measured here: the closest arm, against the text of the same memories; times over cache hits. No claim is refuted or confirmed by another model on other data.',
    ],
  });
}
