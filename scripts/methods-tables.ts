import type { RunResults } from '../src/records/results.ts';
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

/**
 * The answer in a sentence: of the ways to join blocks in any order that can be deployed and leave some tokens as they were, the one
 * of the shortest time to the first token that keeps so much of the text's score.
 */
export function cheapestThatKeeps(results: RunResults): string {
  const { arms, comparisons, methods = [], run } = results;
  const rag = baselineOf(arms)!.arm;
  const primary = primaryMetric(run);
  const compared = (arm: string, metric: string) =>
    comparisons.find(({ a, b, metric: by }) => a === arm && b === rag && by === metric);
  const candidates = methods.flatMap(({ arm: name, budget }) => {
    const arm = arms.find((one) => one.arm === name)!;
    const { prefill, deployable } = arm.traits;
    const [quality, time] = [compared(name, primary.name), compared(name, 'ttftLogRatioAll')];
    const kept = keptOf(results, arm);
    const joins = prefill !== undefined && prefill !== 'prefix' && budget !== '1';
    if (!joins || deployable === false || kept === undefined || quality === undefined || time === undefined) return [];
    return [{ name, kept, quality, time }];
  });
  const [best] = candidates.filter(({ kept }) => kept >= KEPT).sort((a, b) => a.time.delta - b.time.delta);
  const users = `${run.dataset.items} questions of ${run.dataset.users} test users`;
  if (best === undefined) return `> On ${users}, no way of joining blocks keeps ${KEPT} % of the text's score.`;
  const { delta, low, high } = best.quality;
  const [mean, least, most] = [delta, low, high].map((part) => formatNumber(part * primary.scale, primary.digits));
  const [times, from, to] = [best.time.delta, best.time.low, best.time.high].map((part) =>
    formatNumber(Math.exp(part), 2),
  );
  return [
    `> Of ${candidates.length} ways to join blocks, on ${users}, \`${best.name}\` is the cheapest that keeps ${KEPT} % of the text's score`,
    `> (${primary.label}): ${formatNumber(best.kept, 0)} %, ${mean!} [${least!}, ${most!}] ${primary.differenceUnit} to \`${rag}\`, in ${times!} [${from!}, ${to!}] of its time`,
    `> to the first token over all turns.`,
  ].join('\n');
}
