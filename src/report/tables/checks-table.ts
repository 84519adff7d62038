import type { CheckResult, RunResults } from '../../store/records/run-results.ts';
import { sentenceColumn, type Table, textColumn } from '../../render/table.ts';
import { runTable } from './table-parts.ts';

export const checkMarks: Readonly<Record<CheckResult['status'], string>> = { passed: '✓', failed: '✗', undecided: '–' };

/** The evidence of a check, and what a passed one would have seen. */
function checkEvidence({ status, evidence, detects }: CheckResult): string {
  if (status === 'undecided') return `undecided: ${evidence}`;
  return detects === undefined ? evidence : `${evidence}; would have seen ${detects}`;
}

export function checksTable(results: RunResults): Table {
  const columns = [
    textColumn('status', 'passed', ({ status }: CheckResult) => checkMarks[status]),
    sentenceColumn('evidence', 'evidence', checkEvidence),
  ];
  return runTable(results, results.checks, ({ check }) => check, {
    id: 'checks',
    title: 'Checks',
    rowHeading: 'check',
    blocks: [{ columns }],
  });
}
