import type { RunResults } from '../../store/records/results.ts';
import type { Table } from '../../render/table.ts';
import { partsTable } from './ablation-table.ts';

/** Table 3b: the ways to make and place blocks, one option at a time. */
export function placementTable(results: RunResults): Table {
  return partsTable(results, {
    id: 'table-3b',
    title: 'Table 3b. How a block is made and placed, one option at a time',
    notes: [
      'dki-blocks sees the header when it is computed, and stands behind the block before. Changed: nothing is seen (context=none), or',
      'the memory before it too (context=previous); the first N tokens of the prompt are put in front of each block, and dropped or kept',
      '(sink=N, sink=N:kept); all blocks stand right behind the header (dki-parallel), their keys divided by T (temperature=T: APE without',
      'its scale). A miss builds what the store has not. Verdicts are against rag.',
    ],
  });
}
