import type { BenchError } from '../../../config/bench-error.ts';
import type { Language } from '../../metrics/normalise.ts';
import { checkConsistency } from '../consistency.ts';
import { readRecords, type Rule } from '../records.ts';
import { datasetStatistics, type DatasetStatistics } from './dataset-statistics.ts';
import type { Finding } from './finding.ts';
import { unsound } from './soundness.ts';

/** What an examination of a data set came to. */
export interface Verification {
  readonly file: string;
  readonly sha256: string;
  /** Of its `dataset` record; null without one. */
  readonly name: string | null;
  readonly language: Language;
  /** No finding is an error. */
  readonly valid: boolean;
  readonly errors: number;
  readonly warnings: number;
  /** By line. */
  readonly findings: readonly Finding[];
  /** Records were not compared with one another, since some lines cannot be read. */
  readonly partial: boolean;
  /** Of the lines that can be read. */
  readonly statistics: DatasetStatistics;
}

/** The number behind `file:`; a message about the whole file has none. */
function lineOf(path: string, message: string): number | null {
  const digits = message.startsWith(`${path}:`) ? /^\d+/.exec(message.slice(path.length + 1)) : null;
  return digits === null ? null : Number(digits[0]);
}

/**
 * Examines a data set whole: every line against the schema, then the records against one another, then whether they
 * measure what they seem to. One line that cannot be read would make others look wrong, so then only the lines are
 * checked.
 * @throws BenchError `not-found` for a missing file, `bad-data` for one that is no UTF-8 text or is empty
 */
export async function verifyDataset(path: string): Promise<Verification> {
  const findings: Finding[] = [];
  const add = (finding: Omit<Finding, 'line'>): void => {
    findings.push({ ...finding, line: lineOf(path, finding.message) });
  };
  const report = (rule: Rule, { message, hint }: BenchError): void => add({ severity: 'error', rule, message, hint });
  const records = await readRecords(path, report);
  const language = records.header?.record.language ?? 'en';
  const partial = findings.length > 0;
  if (!partial) {
    checkConsistency(records, report);
    for (const finding of unsound(records, language)) add(finding);
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return {
    file: path,
    sha256: records.sha256,
    name: records.header?.record.name ?? null,
    language,
    valid: errors === 0,
    errors,
    warnings: findings.length - errors,
    findings: findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    partial,
    statistics: datasetStatistics(records, language),
  };
}
