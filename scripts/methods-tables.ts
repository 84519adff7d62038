import type { Comparison, RunResults } from '../src/store/records/run-results.ts';
import { baselineArm, findComparison, prefixCacheArm } from '../src/report/find-arms-and-comparisons.ts';
import { primaryMetric } from '../src/report/metric-display.ts';
import { formatInterval, formatNumber, formatRatio } from '../src/render/format-number.ts';
import { keptShare, methodsTable } from '../src/report/tables/methods-cost-quality-tables.ts';
import { placementTable } from '../src/report/tables/ablation-tables.ts';
import type { BareTable } from './real-model-tables.ts';

/** Columns of table 11 that a page has room for. */
const METHODS_SHOWN = ['kept', 'difference', 'recomputed', 'evaluated', 'timesRag', 'againstRandom', 'outcome'];

/** Some columns of a table as one block. */
function pickColumns({ rowHeading, blocks, rows }: BareTable, keys: readonly string[]): BareTable {
  const columns = new Map(blocks.flatMap((block) => block.columns).map((column) => [column.key, column]));
  return { rowHeading, blocks: [{ columns: keys.map((key) => columns.get(key)!) }], rows };
}

/** Table 11 in brief: by default quality, price, and the test against as many random tokens. */
export function methodsInBrief(results: RunResults, shown: readonly string[] = METHODS_SHOWN): BareTable {
  const table = methodsTable(results);
  if (table === undefined) throw new Error(`${results.run.name}: a run that compares methods is needed`);
  return pickColumns(table, shown);
}

/** Columns of table 11 for answers that hardly ever hold the gold: its probability says more. */
const PASSAGES_SHOWN = ['goldLogProb', 'goldDifference', ...METHODS_SHOWN.slice(2)];

/** Table 11 in brief, for long passages. */
export function passagesInBrief(results: RunResults): BareTable {
  return methodsInBrief(results, [primaryMetric(results.run).name, ...PASSAGES_SHOWN]);
}

/** Table 3b in brief: quality, the next token, and what is evaluated. */
export function placementInBrief(results: RunResults): BareTable {
  const keys = [primaryMetric(results.run).name, 'difference', 'klDivergence', 'topOneAgreement', 'evaluated'];
  return pickColumns(placementTable(results), keys);
}

/** Least share of the text's score that counts as kept, %. */
const KEPT = 95;
/** A share of exactly this may be a little less in binary. */
const ROUNDING = 1e-9;

/** A way to join blocks that can be deployed and leaves some tokens as they were, beside the text. */
interface JoinedMethod {
  readonly name: string;
  /** Of the text's score, %. */
  readonly kept: number;
  /** By the primary metric. */
  readonly quality: Comparison;
  /** ln of the time to the first token ÷ that of the text, over all turns; and ÷ that of the prefix cache, if it ran. */
  readonly time: Comparison;
  readonly timeOfCache: Comparison | undefined;
}

function joinedMethods(results: RunResults): JoinedMethod[] {
  const { arms, methods = [], run } = results;
  const rag = baselineArm(arms)?.arm;
  return methods.flatMap(({ arm: name, budget }) => {
    const arm = arms.find((one) => one.arm === name)!;
    const { prefill, deployable } = arm.traits;
    const quality = findComparison(results, name, rag, primaryMetric(run).name);
    // Without hits and misses of `dki` to tell apart there is one time, that over all turns.
    const time =
      findComparison(results, name, rag, 'ttftLogRatioAll') ?? findComparison(results, name, rag, 'ttftLogRatio');
    const kept = keptShare(results, arm);
    const joins = prefill !== undefined && prefill !== 'prefix' && budget !== '1';
    if (!joins || deployable === false || kept === undefined || quality === undefined || time === undefined) return [];
    const timeOfCache =
      findComparison(results, name, prefixCacheArm(arms)?.arm, 'ttftLogRatioAll') ??
      findComparison(results, name, prefixCacheArm(arms)?.arm, 'ttftLogRatio');
    return [{ name, kept, quality, time, timeOfCache }];
  });
}

/**
 * In a sentence: the fastest way to join blocks that keeps enough of the text's score on development users, and its result on
 * test users.
 * @throws Error if none does, or the run of test users lacks it
 */
export function chosenMethod(development: RunResults, test: RunResults): string {
  const candidates = joinedMethods(development);
  const [chosen] = candidates.filter(({ kept }) => kept > KEPT - ROUNDING).sort((a, b) => a.time.delta - b.time.delta);
  const reported = joinedMethods(test).find(({ name }) => name === chosen?.name);
  if (chosen === undefined || reported === undefined)
    throw new Error(`${test.run.name}: no method was chosen, or it did not run`);
  const { label, scale, digits, differenceUnit } = primaryMetric(test.run);
  const { dataset } = test.run;
  const { delta, low, high } = reported.quality;
  const beside =
    reported.timeOfCache === undefined ? '' : ` and ${formatRatio(reported.timeOfCache)} of that of a prefix cache`;
  return [
    `> \`${chosen.name}\`, the fastest of ${candidates.length} with ${KEPT} % of the text's score (${label}) on ${development.run.dataset.items} questions of development users,`,
    `> scored **${formatNumber(reported.kept, 0)} %** of it on ${dataset.items} questions of ${dataset.users} test users`,
    `> (${formatInterval([delta * scale, low * scale, high * scale], digits)} ${differenceUnit}) in **${formatRatio(reported.time)} of its TTFT**${beside} (all turns, n = ${reported.quality.n}).`,
  ].join('\n');
}
