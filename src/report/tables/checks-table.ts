import type { CheckResult, RunResults } from '../../store/records/results.ts';
import { sentenceColumn, type Table, textColumn } from '../../render/table.ts';
import { runTable } from './arm-table.ts';

/** Marks of the statuses in tables. */
export const checkMarks: Readonly<Record<CheckResult['status'], string>> = { passed: '✓', failed: '✗', undecided: '–' };

/** The checks of a run, with the evidence of each. */
export function checksTable(results: RunResults): Table {
  const columns = [
    textColumn('status', 'passed', ({ status }: CheckResult) => checkMarks[status]),
    sentenceColumn('evidence', 'evidence', ({ status, evidence }: CheckResult) =>
      status === 'undecided' ? `undecided: ${evidence}` : evidence,
    ),
  ];
  return runTable(results, results.checks, ({ check }) => check, {
    id: 'checks',
    title: 'Checks',
    rowHeading: 'check',
    blocks: [{ columns }],
  });
}
