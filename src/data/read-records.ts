import { BenchError, didYouMean, formatValue } from '../base/bench-error.ts';
import { parseJsonLongNumbersAsText } from '../base/parse-json-long-numbers-as-text.ts';
import { recordSchemas } from './record-schemas.ts';
import type { DatasetRecord, ItemRecord, MemoryRecord, QuestionRecord } from './record-schemas.ts';
import { checkSchema, mismatch } from './check-schema.ts';
import type { FileLines } from './stream-text-file.ts';

/** Rules that every data set must meet. */
export type Rule =
  | 'schema'
  | 'header'
  | 'duplicate-id'
  | 'supersedes'
  | 'updated-before-created'
  | 'links'
  | 'evidence'
  | 'evidence-after-question'
  | 'absent-with-evidence'
  | 'passages';

/** Receives each problem of a file. It may throw to stop at the first. */
export type Report = (rule: Rule, problem: BenchError) => void;

/** A record and its place, `file:line`. */
export interface Placed<T> {
  readonly record: T;
  readonly place: string;
}

/** Parses one line as a JSON object. @throws BenchError `bad-data` that names file and line */
export function parseObject(text: string, place: string): Readonly<Record<string, unknown>> {
  const hint = 'write one JSON object per line (JSON Lines)';
  let value: unknown;
  try {
    value = parseJsonLongNumbersAsText(text);
  } catch (error) {
    throw new BenchError('bad-data', `${place}: is not JSON: ${(error as Error).message}`, hint, error);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw mismatch(`${place}:`, 'an object', formatValue(value), hint);
}

/** Splits a list of answers into the gold answer and other accepted answers. */
function withOneAnswer(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { answer, acceptedAnswers } = value;
  if (!Array.isArray(answer) || answer.length === 0) return value;
  const [first, ...others] = answer as readonly unknown[];
  const given = Array.isArray(acceptedAnswers) ? (acceptedAnswers as readonly unknown[]) : [];
  return { ...value, answer: first, acceptedAnswers: [...others, ...given] };
}

/** Parses a line as a record of its `type`. @throws BenchError `bad-data` naming file, line, field and value */
function parseRecord(text: string, place: string): DatasetRecord | MemoryRecord | ItemRecord | QuestionRecord {
  const value = parseObject(text, place);
  const kinds = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];
  const hint = `a record is one JSON object with type ${kinds.join(', ')}`;
  const type = value['type'];
  const kind = kinds.find((known) => known === type);
  if (kind === undefined) {
    const near = typeof type === 'string' ? didYouMean(type, kinds) : '';
    throw mismatch(`${place}: type`, kinds.join(' or '), formatValue(type) + near, hint);
  }
  const record = checkSchema(recordSchemas[kind], kind === 'item' ? withOneAnswer(value) : value, place);
  if (record.type !== 'item') return record;
  const { aliases = [], ...item } = record;
  return { ...item, acceptedAnswers: [...item.acceptedAnswers, ...aliases] };
}

/** The records of a file in the order of its lines, before they are checked against one another. */
export type DatasetRecords = Awaited<ReturnType<typeof readRecords>>;

/**
 * Reads the records of a data set; an invalid line is reported and left out.
 * @param path name of the data set in messages
 * @throws BenchError `not-found` for a missing file, `bad-data` if it is empty, not UTF-8 or has a line over 16 MB
 */
export async function readRecords(path: string, lines: FileLines, report: Report) {
  const memories: Placed<MemoryRecord>[] = [];
  const items: Placed<ItemRecord>[] = [];
  const questions: Placed<QuestionRecord>[] = [];
  let header: Placed<DatasetRecord> | undefined;
  let count = 0;
  for await (const { text, place } of lines) {
    const record = parseOrReport(text, place, report);
    const isFirst = ++count === 1;
    if (record?.type === 'memory') memories.push({ record, place });
    else if (record?.type === 'item') items.push({ record, place });
    else if (record?.type === 'question') questions.push({ record, place });
    else if (record !== undefined && isFirst) header = { record, place };
    else if (record !== undefined) {
      const hint = 'write at most one dataset record, as the first line';
      report('header', mismatch(`${place}: type`, 'memory or item', '"dataset" after the first record', hint));
    }
  }
  if (count === 0) throw new BenchError('bad-data', `${path}: is empty`, 'write at least one item record');
  return { path, sha256: lines.sha256(), header, memories, items, questions };
}

function parseOrReport(text: string, place: string, report: Report): ReturnType<typeof parseRecord> | undefined {
  try {
    return parseRecord(text, place);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    report('schema', error);
    return undefined;
  }
}
