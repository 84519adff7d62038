import type { BenchError } from '../../base/bench-error.ts';
import { checkConsistency } from '../check-consistency.ts';
import { fileSource, type DatasetSource } from '../dataset-source.ts';
import { readRecords } from '../read-records.ts';
import { datasetStatistics } from './dataset-statistics.ts';
import { lintDataset } from './lint-dataset.ts';
import type { Finding, Rule } from '../dataset-problem.ts';

export type Verification = Awaited<ReturnType<typeof verifySource>>;

/** Line number after `file:`; null for a message about the whole file. */
function lineNumber(path: string, message: string): number | null {
  const digits = message.startsWith(`${path}:`) ? /^\d+/.exec(message.slice(path.length + 1)) : null;
  return digits === null ? null : Number(digits[0]);
}

/**
 * Verifies a data set: each line against the schema, then records against one another, then by `lintDataset`. If a line
 * is invalid, only lines are checked, since other records would miss its record.
 * @throws BenchError `not-found` for a missing file, `bad-data` for one that is not UTF-8 or is empty
 */
export async function verifyDataset(path: string): Promise<Verification> {
  return verifySource(fileSource(path));
}

/** Verifies a data set from its source, as `verifyDataset` does. @throws BenchError as `verifyDataset` */
export async function verifySource(source: DatasetSource) {
  const { place: path } = source;
  const findings: Finding[] = [];
  const add = (finding: Omit<Finding, 'line'>): void => {
    findings.push({ ...finding, line: lineNumber(path, finding.message) });
  };
  const report = (rule: Rule, { message, hint }: BenchError): void => add({ severity: 'error', rule, message, hint });
  const records = await readRecords(path, source.lines, report);
  const language = records.header?.record.language ?? 'en';
  const partial = findings.length > 0;
  if (!partial) {
    checkConsistency(records, report);
    for (const finding of lintDataset(records, language)) add(finding);
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return {
    file: path,
    sha256: records.sha256,
    name: records.header?.record.name ?? null,
    language: language,
    valid: errors === 0,
    errors,
    warnings: findings.length - errors,
    findings: findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    /** True if a line is invalid, so that records were not compared with one another. */
    partial,
    statistics: datasetStatistics(records, language),
  };
}
