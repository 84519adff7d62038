import { BenchError, didYouMean, formatValue } from '../base/bench-error.ts';
import { parseJsonLongNumbersAsText } from '../base/parse-json-long-numbers-as-text.ts';
import {
  recordSchemas,
  type DatasetRecord,
  type ItemRecord,
  type MemoryRecord,
  type QuestionRecord,
} from './record-schemas.ts';
import { mismatch, checkSchema } from './check-schema.ts';

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
export function parseRecord(text: string, place: string): DatasetRecord | MemoryRecord | ItemRecord | QuestionRecord {
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
