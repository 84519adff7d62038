import type { Comparison, RunResults } from '../src/store/records/results.ts';
import { comparisonOf } from '../src/report/comparison-of.ts';
import { intervalText, ratioText } from '../src/report/interval-text.ts';
import { primaryMetric } from '../src/report/shown-metric.ts';
import { formatNumber } from '../src/render/table.ts';
import { keptOf, methodsTable } from '../src/report/tables/methods-table.ts';
import { placementTable } from '../src/report/tables/placement-table.ts';
import { baselineOf } from '../src/report/verdict.ts';
import type { BareTable } from './real-model-tables.ts';

/** Columns of table 11 that a page has room for. */
const METHODS_SHOWN = ['kept', 'difference', 'recomputed', 'evaluated', 'timesRag', 'againstRandom', 'outcome'];

/** Some columns of a table as one block. */
function columnsOf({ rowHeading, blocks, rows }: BareTable, keys: readonly string[]): BareTable {
  const columns = new Map(blocks.flatMap((block) => block.columns).map((column) => [column.key, column]));
  // Its block says in a title what a difference is to.
  const shown = keys
    .map((key) => columns.get(key)!)
    .map((one) => (one.key === 'againstRandom' ? { ...one, heading: 'to random tokens' } : one));
  return { rowHeading, blocks: [{ columns: shown }], rows };
}

/** Table 11 in brief: quality, price, and the test against as many random tokens. @throws Error for a run that compares none */
export function methodsInBrief(results: RunResults): BareTable {
  return columnsOf(tableOfMethods(results), METHODS_SHOWN);
}

function tableOfMethods(results: RunResults): BareTable {
  const table = methodsTable(results);
  if (table === undefined) throw new Error(`${results.run.name}: a run that compares methods is needed`);
  return table;
}

/** Columns of table 11 for answers that hardly ever hold the gold: its probability says more. */
const PASSAGES_SHOWN = [
  'goldLogProb',
  'goldDifference',
  'recomputed',
  'evaluated',
  'timesRag',
  'againstRandom',
  'outcome',
];

/** Table 11 in brief, for long passages. @throws Error for a run that compares no methods */
export function passagesInBrief(results: RunResults): BareTable {
  return columnsOf(tableOfMethods(results), [primaryMetric(results.run).name, ...PASSAGES_SHOWN]);
}

/** Table 3b in brief: quality, the next token, and what is evaluated. */
export function placementInBrief(results: RunResults): BareTable {
  const keys = [primaryMetric(results.run).name, 'difference', 'klDivergence', 'topOneAgreement', 'evaluated'];
  return columnsOf(placementTable(results), keys);
}

/** Least share of the text's score that counts as kept, %. */
const KEPT = 95;
/** A share that is this one may be a little less in binary. */
const ROUNDING = 1e-9;

/** A way to join blocks that can be deployed and leaves some tokens as they were, beside the text. */
interface JoinedMethod {
  readonly name: string;
  /** Of the text's score, %. */
  readonly kept: number;
  /** By the primary metric. */
  readonly quality: Comparison;
  /** ln of the time to the first token ÷ that of the text, over all turns. */
  readonly time: Comparison;
}

function joinedMethods(results: RunResults): JoinedMethod[] {
  const { arms, methods = [], run } = results;
  const rag = baselineOf(arms)?.arm;
  return methods.flatMap(({ arm: name, budget }) => {
    const arm = arms.find((one) => one.arm === name)!;
    const { prefill, deployable } = arm.traits;
    const quality = comparisonOf(results, name, rag, primaryMetric(run).name);
    // Without hits and misses of `dki` to tell apart there is one time, that over all turns.
    const time =
      comparisonOf(results, name, rag, 'ttftLogRatioAll') ?? comparisonOf(results, name, rag, 'ttftLogRatio');
    const kept = keptOf(results, arm);
    const joins = prefill !== undefined && prefill !== 'prefix' && budget !== '1';
    if (!joins || deployable === false || kept === undefined || quality === undefined || time === undefined) return [];
    return [{ name, kept, quality, time }];
  });
}

/**
 * In a sentence: on development users, the way to join blocks of the shortest time to the first token that keeps so much of the text's
 * score, and what test users say of it.
 * @throws Error where none does, or the run of test users has not asked it
 */
export function chosenMethod(development: RunResults, test: RunResults): string {
  const candidates = joinedMethods(development);
  const [chosen] = candidates.filter(({ kept }) => kept > KEPT - ROUNDING).sort((a, b) => a.time.delta - b.time.delta);
  const reported = joinedMethods(test).find(({ name }) => name === chosen?.name);
  if (chosen === undefined || reported === undefined) throw new Error(`${test.run.name}: nothing was chosen, or asked`);
  const { label, scale, digits, differenceUnit } = primaryMetric(test.run);
  const { dataset } = test.run;
  const { delta, low, high } = reported.quality;
  return [
    `> \`${chosen.name}\`, on ${development.run.dataset.items} questions of development users the cheapest of ${candidates.length} that scored ${KEPT} % of the`,
    `> text's score (${label}), scored **${formatNumber(reported.kept, 0)} %** of it on ${dataset.items} questions of ${dataset.users} test users:`,
    `> ${intervalText([delta * scale, low * scale, high * scale], digits)} ${differenceUnit} to \`rag\`, in`,
    `> **${ratioText(reported.time)} of its time** to the first token over all turns.`,
  ].join('\n');
}
