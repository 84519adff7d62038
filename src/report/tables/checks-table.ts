import type { CheckResult, RunResults } from '../../store/records/run-results.ts';
import { sentenceColumn, type Table, textColumn } from '../../render/table.ts';
import { runTable } from './table-parts.ts';

export const checkMarks: Readonly<Record<CheckResult['status'], string>> = { passed: '✓', failed: '✗', undecided: '–' };

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
