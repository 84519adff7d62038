import { baselineArm, prefixCacheArm, primaryArm, findComparison } from '../src/report/find-arms-and-comparisons.ts';
import { findMetric, primaryMetric } from '../src/report/metric-display.ts';
import { differenceToBaseline } from '../src/report/tables/table-parts.ts';
import { verdictText } from '../src/report/tables/arm-comparisons-tables.ts';
import { type ItemColumn, itemRows, numberColumn, type Table, textCell, textColumn } from '../src/render/table.ts'; // prettier-ignore
import { formatRatio } from '../src/render/format-number.ts';
import type { ArmResults, CostName, RunResults } from '../src/store/records/run-results.ts';

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
