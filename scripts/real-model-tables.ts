import { baselineArm, prefixCacheArm, primaryArm, findComparison } from '../src/report/find-arms-and-comparisons.ts';
import { findMetric, primaryMetric } from '../src/report/metric-display.ts';
import { differenceToBaseline } from '../src/report/tables/table-parts.ts';
import { verdictText } from '../src/report/tables/arm-comparisons-tables.ts';
import { countColumn, type ItemColumn, itemRows, numberColumn, type Table, textCell, textColumn } from '../src/render/table.ts'; // prettier-ignore
import { formatInterval, formatNumber, formatRatio } from '../src/render/format-number.ts';
import type { ArmResults, Comparison, CostName, RunResults } from '../src/store/records/run-results.ts';

/** A table for a document, whose own words replace caption and notes. */
export type BareTable = Omit<Table, 'id' | 'caption' | 'notes'>;

type RealRun = ReturnType<typeof realRun>;

/**
 * The run of a real model: its arms of text and of the exact prefix, and its primary metric.
 * @throws Error for a run without an arm of the README, a bug of its command
 */
function realRun(results: RunResults) {
  const [rag, cached, dki] = [baselineArm(results.arms), prefixCacheArm(results.arms), primaryArm(results.arms)];
  if (rag === undefined || cached === undefined || dki === undefined) {
    throw new Error(`${results.run.name}: rag, rag-cached and dki are needed`);
  }
  return { results, rag, cached, dki, primary: primaryMetric(results.run) };
}

function armsTable(arms: readonly ArmResults[], columns: readonly ItemColumn<ArmResults>[]): BareTable {
  return { rowHeading: 'arm', ...itemRows(arms, ({ arm }) => arm, [{ columns }]) };
}

function tokensColumn(over: 'costHit' | 'costAll'): ItemColumn<ArmResults> {
  const turns = over === 'costHit' ? 'cache hits' : 'all turns';
  return numberColumn(`tokens:${over}`, `tokens evaluated (${turns})`, (arm) => arm[over]?.tokens.evaluated);
}

/** `TTFT vs RAG (cache hits)`: the ratio of times to those of text, or of text with a prefix cache; empty where none was compared. */
function ratioColumn({ results, rag, cached }: RealRun, to: 'RAG' | 'prefix cache', metric: CostName) {
  const other = to === 'RAG' ? rag : cached;
  const over = metric === 'ttftLogRatio' ? 'cache hits' : 'all turns';
  return numberColumn(`${to}:${metric}`, `TTFT vs ${to} (${over})`, ({ arm, traits }: ArmResults) => {
    // An arm with other memories than RAG has other work.
    const compared = findComparison(results, arm, other.arm, metric);
    return textCell(traits.retrieves === rag.traits.retrieves && compared !== undefined ? formatRatio(compared) : null);
  });
}

/** Arms of the table that a reader sees first, best quality first. */
const HEADLINE = ['oracle', 'rag', 'rag-cached', 'dki', 'dki-link:8', 'dki-link:4', 'dki-blocks', 'none'];

/** Quality and cost in one table. */
export function headlineTable(results: RunResults): BareTable {
  const run = realRun(results);
  const shown = HEADLINE.flatMap((name) => results.arms.filter(({ arm }) => arm === name));
  return armsTable(shown, [
    run.primary.column(),
    differenceToBaseline(results, run.primary),
    tokensColumn('costHit'),
    ratioColumn(run, 'RAG', 'ttftLogRatio'),
    ratioColumn(run, 'prefix cache', 'ttftLogRatio'),
    ratioColumn(run, 'prefix cache', 'ttftLogRatioAll'),
  ]);
}

/** The quality of each arm against text: the primary metric, its difference and verdict, and the gold answers in nats. */
export function keptTable(results: RunResults): BareTable {
  const { primary, rag } = realRun(results);
  const gold = findMetric(results.run, 'goldLogProb')!;
  return armsTable(results.arms, [
    primary.column(),
    differenceToBaseline(results, primary),
    textColumn('verdict', 'verdict', ({ arm }) => {
      const compared = findComparison(results, arm, rag.arm, primary.name);
      return compared && verdictText(compared);
    }),
    { ...differenceToBaseline(results, gold, 'gold'), heading: `gold answer, Δ vs RAG (${gold.unit} per token)` },
  ]);
}

/** A public set, with too few items for verdicts: each of its metrics, and tokens evaluated. */
export function publicSetTable(results: RunResults): BareTable {
  const names = ['contains', 'tokenF1', 'goldLogProb'];
  const metrics = names.map((name) => findMetric(results.run, name)!.column<ArmResults>());
  return armsTable(results.arms, [...metrics, tokensColumn('costAll')]);
}

/** The arms of text and those that inject, without controls. */
function costlyArms({ results, rag, cached }: RealRun): ArmResults[] {
  return results.arms.filter(
    ({ arm, traits }) =>
      arm === rag.arm || arm === cached.arm || (traits.injects !== 'nothing' && traits.control === null),
  );
}

const costColumns = (run: RealRun) => [
  tokensColumn('costHit'),
  tokensColumn('costAll'),
  ratioColumn(run, 'RAG', 'ttftLogRatio'),
  ratioColumn(run, 'prefix cache', 'ttftLogRatio'),
  ratioColumn(run, 'RAG', 'ttftLogRatioAll'),
  ratioColumn(run, 'prefix cache', 'ttftLogRatioAll'),
];

/** The cost of each arm: tokens evaluated, and the time to first token against text without and with a prefix cache. */
export function costTable(results: RunResults): BareTable {
  const run = realRun(results);
  return armsTable(costlyArms(run), costColumns(run));
}

/** The cost of each arm on a server, with its quality and the time to first token in milliseconds. */
export function serverTable(results: RunResults): BareTable {
  const run = realRun(results);
  const median = countColumn('ms', 'TTFT, cache hits, median (ms)', ({ costHit }: ArmResults) => costHit?.ttftMs.p50);
  return armsTable(costlyArms(run), [run.primary.column(), median, ...costColumns(run)]);
}

/** `13.7 [6.4, 21.6]`, in points. */
function lossText({ primary }: RealRun, { delta, low, high }: Comparison): string {
  const { scale, digits } = primary;
  return formatInterval([-delta * scale, -high * scale, -low * scale], digits);
}

/** The finding to quote: the loss of joined blocks, the gain by recomputing, the savings of the exact prefix. */
export function finding(results: RunResults): string {
  const run = realRun(results);
  const { rag, cached, dki, primary } = run;
  const { dataset, model } = results.run;
  const kept = (arm: string): Comparison => findComparison(results, arm, rag.arm, primary.name)!;
  const time = (other: ArmResults, metric: CostName): string =>
    formatRatio(findComparison(results, dki.arm, other.arm, metric)!);
  const exact = kept(dki.arm);
  const none = `none, the same on ${exact.n} of ${exact.n} questions`;
  const unit = primary.differenceUnit;
  const recomputed = results.arms.flatMap(({ arm }) => {
    const tokens = /^dki-link:(\d+|all)$/.exec(arm)?.[1];
    return tokens === undefined ? [] : [`${tokens}: ${lossText(run, kept(arm))}`];
  });
  return [
    `> On \`${model.name}\`, ${dataset.items} questions of ${dataset.users} users, answers lost against text (${primary.label}):`,
    '>',
    `> - one **exact KV prefix** (\`${dki.arm}\`): ${exact.verdict === 'identical' ? none : `${lossText(run, exact)} ${unit}`};`,
    `> - **joined KV blocks** (\`dki-blocks\`): ${lossText(run, kept('dki-blocks'))} ${unit};`,
    `> - joined, the first k tokens of each block **recomputed** (\`dki-link:k\`), ${unit}: ${recomputed.join('; ')}.`,
    '>',
    `> On cache hits the TTFT of the exact prefix is **${time(rag, 'ttftLogRatio')} × that of cold text, ${time(cached, 'ttftLogRatio')} × that`,
    `> of a prefix cache**; over all turns (hit rate ${formatNumber(100 * dki.hitRate!, 0)} %) ${time(rag, 'ttftLogRatioAll')} and ${time(cached, 'ttftLogRatioAll')}.`,
  ].join('\n');
}
