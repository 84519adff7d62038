import type { CheckResult, RunResults } from '../../store/records/results.ts';
import { captionOf, type Table, textCell } from '../../render/table.ts';

/** Marks of the statuses in tables. */
export const checkMarks: Readonly<Record<CheckResult['status'], string>> = { passed: '✓', failed: '✗', undecided: '–' };

/** The checks of a run, with the evidence of each. */
export function checksTable(results: RunResults): Table {
  return {
    id: 'checks',
    caption: captionOf('Checks', results),
    rowHeading: 'check',
    blocks: [
      {
        columns: [
          { key: 'status', heading: 'passed', align: 'left' },
          { key: 'evidence', heading: 'evidence', align: 'left', sentence: true },
        ],
      },
    ],
    rows: results.checks.map(({ check, status, evidence }) => ({
      label: check,
      cells: {
        status: textCell(checkMarks[status]),
        evidence: textCell(status === 'undecided' ? `undecided: ${evidence}` : evidence),
      },
    })),
    notes: [],
  };
}
