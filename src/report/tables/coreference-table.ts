import type { RunResults } from '../../eval/results.ts';
import { captionOf, type Table } from '../table.ts';
import { answersAndCost, byCondition } from './by-condition.ts';

/** Table 10: questions that one memory answers beside those that take the memory before it as well. */
export function coreferenceTable(results: RunResults): Table {
  return {
    id: 'table-10',
    caption: captionOf('Table 10. Memories that need the one before them', results),
    rowHeading: 'memories that an answer takes',
    ...byCondition(results, answersAndCost(results), String),
    notes: [
      'Two people, of each a memory with the name and behind it one that says "she" or "he"; both of these tell the same kind of thing.',
      'Where it takes two, the blocks of dki-blocks and dki-parallel have never seen each other, those of dki-link:K in part.',
    ],
  };
}
