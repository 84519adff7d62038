import type { RunResults } from '../../eval/results.ts';
import { captionOf, type Table } from '../table.ts';
import { answersAndCost, byCondition } from './by-condition.ts';

/** Table 6: recall by depth of the conversation. */
export function coherenceTable(results: RunResults): Table {
  return {
    id: 'table-6',
    caption: captionOf('Table 6. Recall by depth of the conversation', results),
    rowHeading: 'turn',
    ...byCondition(results, answersAndCost(results), String),
    notes: [
      'One conversation a user; what stands before a question is what the arm itself answered.',
      'Every third turn tells something that is asked two turns later and that no memory holds.',
    ],
  };
}
