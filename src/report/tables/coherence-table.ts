import type { RunResults } from '../../store/records/results.ts';
import { captionOf, type Table } from '../../render/table.ts';
import { answersAndCost, byCondition } from './by-condition.ts';

/** Table 6: recall by depth of the conversation. */
export function coherenceTable(results: RunResults): Table {
  return {
    id: 'table-6',
    caption: captionOf('Table 6. Recall by depth of the conversation', results),
    rowHeading: 'turn',
    ...byCondition(results, answersAndCost(results), String),
    notes: [
      "One conversation a user; the history of a question holds the arm's own answers.",
      'Every third turn states a fact that is asked two turns later and that no memory holds.',
    ],
  };
}
