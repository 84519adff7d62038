import type { CheckResult, RunResults } from '../../store/records/results.ts';
import { itemRows, sentenceColumn, type Table, textColumn } from '../../render/table.ts';
import { titleWithProof } from '../proof.ts';

/** Marks of the statuses in tables. */
export const checkMarks: Readonly<Record<CheckResult['status'], string>> = { passed: '✓', failed: '✗', undecided: '–' };

/** The checks of a run, with the evidence of each. */
export function checksTable(results: RunResults): Table {
  return {
    id: 'checks',
    caption: titleWithProof('Checks', results),
    rowHeading: 'check',
    ...itemRows(results.checks, ({ check }) => check, [
      {
        columns: [
          textColumn('status', 'passed', ({ status }) => checkMarks[status]),
          sentenceColumn('evidence', 'evidence', ({ status, evidence }) =>
            status === 'undecided' ? `undecided: ${evidence}` : evidence,
          ),
        ],
      },
    ]),
    notes: [],
  };
}
