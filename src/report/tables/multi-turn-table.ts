/** Table 17: right answers by turn on one context, and what each arm keeps of it. */
import { countColumn, intervalColumn, type ItemColumn, numberColumn, type Table } from '../../render/table.ts';
import type { MultiTurnResults, RunResults } from '../../store/records/run-results.ts';
import { primaryMetric } from '../metric-display.ts';
import { findCondition } from './condition-tables.ts';
import { runTable } from './table-parts.ts';

export function multiTurnTable(results: RunResults): Table | undefined {
  const { run, conditions, multiTurn } = results;
  if (multiTurn === undefined) return undefined;
  const primary = primaryMetric(run);
  const turns = [...new Set(conditions.map(({ condition }) => condition))].sort((a, b) => a - b);
  const byTurn = turns.map((turn): ItemColumn<MultiTurnResults> =>
    intervalColumn(`turn ${turn}`, `turn ${turn} (${primary.unit})`, ({ arm }) =>
      primary.cell(findCondition(results, arm, turn)?.metrics ?? {}),
    ),
  );
  const change = `Δ turn ${turns.at(-1)} vs ${turns[0]}`;
  return runTable(results, multiTurn, ({ arm }) => arm, {
    id: 'table-17',
    title: `Table 17. Several questions on one context: ${run.model.name}`,
    blocks: [
      {
        title: primary.title,
        columns: [...byTurn, primary.differenceColumn('change', change, (one: MultiTurnResults) => one.change)],
      },
      {
        title: 'Memories in the prompt',
        columns: [
          countColumn('bytes', 'KV bytes', ({ promptBytes }) => promptBytes),
          numberColumn('repaired', 'tokens repaired', ({ repairedTokens }) => repairedTokens),
        ],
      },
    ],
    notes: [
      'One context per user. Each turn asks for another of its memories, without the questions before it; all memories are in the prompt.',
      'Tokens are evicted at the first turn and stay so; snapkv chooses them by the first question. KV bytes: as stored, without the header.',
      '@repair=N joins the whole blocks of the N memories that retrieval ranks first, @repair=N:random of as many others. Table 11 tests',
      'each rule against random tokens, and each choice of blocks against random blocks.',
    ],
  });
}
