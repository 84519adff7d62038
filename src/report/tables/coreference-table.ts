import type { RunResults } from '../../store/records/results.ts';
import { captionOf, type Table } from '../../render/table.ts';
import { answersAndCost, byCondition } from './by-condition.ts';

/** Table 10: questions that one memory answers, and questions that need the previous memory, too. */
export function coreferenceTable(results: RunResults): Table {
  return {
    id: 'table-10',
    caption: captionOf('Table 10. Memories that refer to the previous one', results),
    rowHeading: 'memories that an answer needs',
    ...byCondition(results, answersAndCost(results), String),
    notes: [
      'Two people, each with a memory that names them, followed by one that says "she" or "he"; the latter tell the same kind of fact.',
      'If an answer needs two memories, the blocks of dki-blocks and dki-parallel do not see each other, those of dki-link:K in part.',
    ],
  };
}
