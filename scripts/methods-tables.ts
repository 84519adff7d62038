import type { Comparison, RunResults } from '../src/records/results.ts';
import { primaryMetric } from '../src/report/shown-metric.ts';
import { formatNumber } from '../src/report/table.ts';
import { keptOf, methodsTable } from '../src/report/tables/methods-table.ts';
import { baselineOf } from '../src/report/verdict.ts';
import type { BareTable } from './real-model-tables.ts';

/** Columns of table 11 that a page has room for. */
const SHOWN = ['kept', 'difference', 'recomputed', 'evaluated', 'timesRag', 'againstRandom', 'outcome'];

/** Table 11 in brief: quality, price, and the test against as many random tokens. @throws Error for a run of another suite */
export function methodsInBrief(results: RunResults): BareTable {
  const table = methodsTable(results);
  if (table === undefined) throw new Error(`${results.run.name}: a run of suite methods is needed`);
  const columns = table.blocks.flatMap((block) => block.columns);
  const heading = (key: string): string | undefined => (key === 'againstRandom' ? 'to random tokens' : undefined);
  return {
    rowHeading: 'arm',
    blocks: [
      {
        columns: SHOWN.map((key) => {
          const column = columns.find((one) => one.key === key)!;
          return { ...column, heading: heading(key) ?? column.heading };
        }),
      },
    ],
    rows: table.rows,
  };
}

/** Least share of the text's score that counts as kept, %. */
const KEPT = 95;
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
  const { arms, comparisons, methods = [], run } = results;
  const rag = baselineOf(arms)?.arm;
  const compared = (arm: string, metric: string): Comparison | undefined =>
    comparisons.find(({ a, b, metric: by }) => a === arm && b === rag && by === metric);
  return methods.flatMap(({ arm: name, budget }) => {
    const arm = arms.find((one) => one.arm === name)!;
    const { prefill, deployable } = arm.traits;
    const quality = compared(name, primaryMetric(run).name);
    // Without hits and misses of `dki` to tell apart there is one time, that over all turns.
    const time = compared(name, 'ttftLogRatioAll') ?? compared(name, 'ttftLogRatio');
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
  const primary = primaryMetric(test.run);
  const { dataset } = test.run;
  return [
    `> \`${chosen.name}\`, on ${development.run.dataset.items} questions of development users the cheapest of ${candidates.length} that keeps ${KEPT} % of the`,
    `> text's score (${primary.label}), keeps **${formatNumber(reported.kept, 0)} %** on ${dataset.items} questions of ${dataset.users} test users:`,
    `> ${intervalText(reported.quality, (part) => formatNumber(part * primary.scale, primary.digits))} ${primary.differenceUnit} to \`rag\`, in`,
    `> **${intervalText(reported.time, (part) => formatNumber(Math.exp(part), 2))} of its time** to the first token over all turns.`,
  ].join('\n');
}

function intervalText({ delta, low, high }: Comparison, text: (part: number) => string): string {
  return `${text(delta)} [${text(low)}, ${text(high)}]`;
}
