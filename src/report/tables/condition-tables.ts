/** Tables by condition: 2 (window), 6 (depth), 10 (coreference), 17 (several turns), and data of figures F2 and F3. */
import type { ConditionResults, MultiTurnResults, RunResults } from '../../store/records/run-results.ts';
import { type Cell, countColumn, estimateCell, intervalColumn, type ItemBlock, type ItemColumn, numberCell, numberColumn, type Table, titled } from '../../render/table.ts'; // prettier-ignore
import { formatNumber } from '../../render/format-number.ts';
import { findMetric, primaryMetric } from '../metric-display.ts';
import { runTable } from './table-parts.ts';

interface ArmColumns {
  readonly title: string;
  /** Columns with a unit have intervals. */
  readonly unit?: string;
  /** All by default. */
  readonly arms?: readonly string[];
  readonly cell: (results: ConditionResults) => Cell;
}

/** The results of an arm under a condition; by default over all places of the evidence. */
function findCondition(
  { conditions }: RunResults,
  arm: string,
  condition: number,
  place: ConditionResults['place'] = null,
): ConditionResults | undefined {
  return conditions.find((one) => one.arm === arm && one.condition === condition && one.place === place);
}

const conditionsOf = ({ conditions }: RunResults): number[] =>
  [...new Set(conditions.map(({ condition }) => condition))].sort((a, b) => a - b);

/** `25 %` */
export function shareLabel(condition: number): string {
  return `${formatNumber(condition * 100, 0)} %`;
}

function conditionTable(
  results: RunResults,
  groups: readonly ArmColumns[],
  table: Pick<Table, 'id' | 'rowHeading' | 'notes'> & { readonly title: string },
  label: (condition: number) => string = String,
): Table {
  const bases = new Map(results.arms.map(({ arm, traits }) => [arm, traits.base]));
  const all = results.arms.map(({ arm }) => arm);
  const blocks = groups.map(({ title: group, unit, arms = all, cell }): ItemBlock<number> => ({
    title: group,
    columns: arms.map((arm) => ({
      key: `${group}: ${arm}`,
      heading: `${bases.get(arm) ?? arm}${unit === undefined ? '' : ` (${unit})`}`,
      kind: unit === undefined ? 'number' : 'interval',
      cell: (condition) => {
        const found = findCondition(results, arm, condition);
        return found && cell(found);
      },
    })),
  }));
  return runTable(results, conditionsOf(results), label, { ...table, blocks });
}

function qualityAndTokens({ run }: RunResults): ArmColumns[] {
  const primary = primaryMetric(run);
  return [
    { title: primary.title, unit: primary.unit, cell: ({ metrics }) => primary.cell(metrics) },
    { title: 'Tokens evaluated', cell: ({ tokens }) => numberCell(tokens.evaluated) },
  ];
}

/** Table 2: a fixed window and a growing number of memories, with half or all of the remaining window as their budget. */
export function contextTable(results: RunResults): Table {
  const { model } = results.run;
  const success = findMetric(results.run, 'taskSuccess')!;
  const withBudget = (budget: 'half' | 'all'): string[] =>
    results.arms.flatMap(({ arm, traits }) => ((traits.settings.budget ?? 'half') === budget ? arm : []));
  const budgets = [
    { name: 'half', title: 'Task success, same budget (half of the remaining window)', arms: withBudget('half') },
    { name: 'all', title: 'Task success, KV budget (all of the remaining window)', arms: withBudget('all') },
  ].filter(({ arms }) => arms.length > 0);
  const memories = (title: string, count: 'kept' | 'dropped'): ArmColumns[] =>
    budgets.map(({ name, arms }) => ({
      title: `Memories ${title}, budget ${name}`,
      arms,
      cell: (found) => numberCell(found.memories[count]),
    }));
  const groups = [
    ...budgets.map((budget): ArmColumns => ({ ...budget, unit: '%', cell: ({ metrics }) => success.cell(metrics) })),
    ...memories('in the prompt', 'kept'),
    ...memories('dropped', 'dropped'),
  ];
  const table = {
    id: 'table-2',
    title: `Table 2. A window of ${model.contextTokens} tokens and a growing number of memories: ${model.name}`,
    rowHeading: 'memories (share of the window)',
    notes: [
      'Retrieval returns every memory; they enter in rank order until the budget is full, and are placed by age.',
      'A budget of all of the remaining window leaves no tokens for history; these questions have no history.',
      'Means with 95 % intervals over users; every user has questions under every condition.',
    ],
  };
  return conditionTable(results, groups, table, shareLabel);
}

export function coherenceTable(results: RunResults): Table {
  return conditionTable(results, qualityAndTokens(results), {
    id: 'table-6',
    title: 'Table 6. Recall by depth of the conversation',
    rowHeading: 'turn',
    notes: [
      "One conversation per user; the history of a question holds the arm's own answers.",
      'Every third turn states a fact that is in no memory; the question two turns later is about it.',
    ],
  });
}

/** Table 10: questions that one memory answers, and questions that also need the previous memory. */
export function coreferenceTable(results: RunResults): Table {
  return conditionTable(results, qualityAndTokens(results), {
    id: 'table-10',
    title: 'Table 10. Memories that refer to the previous one',
    rowHeading: 'memories that an answer needs',
    notes: [
      'Two people each have a memory that names them, and a next one that says "she" or "he" and states the same kind of fact.',
      'If an answer needs both memories: blocks of dki-blocks and dki-parallel do not see each other, those of dki-link:K in part.',
    ],
  });
}

export function latencyScalingTable(results: RunResults): Table {
  const groups: readonly ArmColumns[] = [
    { title: 'Time to first token', unit: 'ms', cell: ({ metrics }) => estimateCell(metrics.ttftMs) },
    { title: 'Memory tokens', cell: ({ memories }) => numberCell(memories.tokens) },
    { title: 'Tokens evaluated', cell: ({ tokens }) => numberCell(tokens.evaluated) },
  ];
  return conditionTable(results, groups, {
    id: 'table-f2',
    title: 'Figure F2, data. Time to first token by number of memories',
    rowHeading: 'memories',
    notes: ['Retrieval returns every memory. Means over all turns, cache hits and misses.'],
  });
}

export function recallScalingTable(results: RunResults): Table {
  const primary = primaryMetric(results.run);
  const places = [null, 'early', 'middle', 'late'] as const;
  const groups = places.map((place): ArmColumns => ({
    title: `${primary.title}${place === null ? '' : `, evidence ${place === 'middle' ? 'in the middle' : place}`}`,
    unit: primary.unit,
    cell: ({ arm, condition }) => primary.cell(findCondition(results, arm, condition, place)?.metrics),
  }));
  return conditionTable(results, groups, {
    id: 'table-f3',
    title: 'Figure F3, data. Recall by number of memories and place of the evidence',
    rowHeading: 'memories',
    notes: ['Early, middle, late: the third of the memories, by age, that holds the evidence.'],
  });
}

/** Table 17: right answers by turn on one context, and what each arm keeps of it; undefined for other runs. */
export function multiTurnTable(results: RunResults): Table | undefined {
  const { run, multiTurn } = results;
  if (multiTurn === undefined) return undefined;
  const primary = primaryMetric(run);
  const turns = conditionsOf(results);
  const byTurn = turns.map((turn): ItemColumn<MultiTurnResults> =>
    intervalColumn(`turn ${turn}`, `turn ${turn} (${primary.unit})`, ({ arm }) =>
      primary.cell(findCondition(results, arm, turn)?.metrics),
    ),
  );
  const change = `Δ turn ${turns.at(-1)} vs ${turns[0]}`;
  return runTable(results, multiTurn, ({ arm }) => arm, {
    id: 'table-17',
    title: `Table 17. Several questions on one context: ${run.model.name}`,
    blocks: [
      titled(primary.title, [
        ...byTurn,
        primary.differenceColumn('change', change, (one: MultiTurnResults) => one.change),
      ]),
      titled('Memories in the prompt', [
        countColumn('bytes', 'KV bytes', ({ promptBytes }) => promptBytes),
        numberColumn('repaired', 'tokens repaired', ({ repairedTokens }) => repairedTokens),
      ]),
    ],
    notes: [
      'One context per user. Each turn asks for another of its memories, without the questions before it; all memories are in the prompt.',
      'Tokens are evicted at the first turn and stay so; snapkv chooses them by the first question. KV bytes: as stored, without the header.',
      '@repair=N joins the whole blocks of the N memories that retrieval ranks first, @repair=N:random of as many others. Table 11 tests',
      'each rule against random tokens, and each choice of blocks against random blocks.',
    ],
  });
}
