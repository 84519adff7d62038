import type { FunnelStage, WrongClass } from '../../store/records/turn-record.ts';
import type { RunResults } from '../../store/records/results.ts';
import { countCell, numberColumn, type Table } from '../../render/table.ts';
import { qualityCell } from '../shown-metric.ts';
import { armTable } from './arm-table.ts';

const wrongClasses: Readonly<Record<WrongClass, string>> = {
  'wrong-abstention': 'abstained',
  stale: 'stale',
  confused: 'confused',
  'near-copy': 'near copy',
  fabricated: 'fabricated',
  'off-topic': 'off topic',
};

const stages: Readonly<Record<FunnelStage, string>> = {
  stored: 'stored',
  retrieved: 'retrieved',
  kept: 'in the prompt',
  sequence: 'in the sequence',
  answered: 'answered',
};

const entries = <Key extends string>(names: Readonly<Record<Key, string>>) => Object.entries(names) as [Key, string][];

/** Table 1b: wrong answers by class, and the evidence funnel. */
export function wrongAnswersTable(results: RunResults): Table {
  const { run } = results;
  return armTable(results, {
    id: 'table-1b',
    title: 'Table 1b. Wrong answers by class, and the evidence funnel',
    blocks: [
      {
        title: 'Wrong answers',
        columns: entries(wrongClasses).map(([key, heading]) =>
          numberColumn(key, heading, ({ wrong }) => qualityCell(run, countCell(wrong?.[key]))),
        ),
      },
      {
        title: 'Evidence funnel of answerable items',
        columns: entries(stages).map(([key, heading]) =>
          numberColumn(key, heading, ({ funnel }) => {
            const count = countCell(funnel[key]);
            return key === 'answered' ? qualityCell(run, count) : count;
          }),
        ),
      },
    ],
    notes: [
      'A wrong answer falls into the first class that fits: a wrong abstention; stale, a superseded value; confused, ' +
        'the value of another memory in the prompt; near copy; fabricated, a value that was not in the prompt; off topic.',
      'An item leaves the funnel at the first stage that failed.',
      ...(run.dataset.withoutEvidence === undefined
        ? []
        : [`${run.dataset.withoutEvidence} items with unknown evidence are not in the funnel.`]),
    ],
  });
}
