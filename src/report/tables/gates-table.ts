import type { RunResults } from '../../eval/results.ts';
import { captionOf, type Table, textCell } from '../table.ts';

/** What the run proved, what it did not, and by which evidence. */
export function gatesTable(results: RunResults): Table {
  return {
    id: 'gates',
    caption: captionOf('Gates', results),
    rowHeading: 'gate',
    blocks: [
      {
        columns: [
          { key: 'held', heading: 'held', align: 'left' },
          { key: 'evidence', heading: 'evidence', align: 'left', sentence: true },
        ],
      },
    ],
    rows: [
      ...results.gates.map(({ gate, held, evidence }) => ({
        label: gate,
        cells: { held: textCell(held ? '✓' : '✗'), evidence: textCell(evidence) },
      })),
      ...results.gatesNotRun.map(({ gate, why }) => ({
        label: gate,
        cells: { held: textCell('–'), evidence: textCell(`not run: ${why}`) },
      })),
    ],
    notes: [],
  };
}
