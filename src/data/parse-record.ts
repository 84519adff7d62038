import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { shownValue } from '../base/shown-value.ts';
import {
  recordSchemas,
  type DatasetRecord,
  type ItemRecord,
  type MemoryRecord,
  type QuestionRecord,
} from './schema.ts';

/** A record and its place, `file:line`. */
export interface Placed<T> {
  readonly record: T;
  readonly place: string;
}

function valueAt(record: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], record);
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.map(String).join(' or ')}`;
    default:
      return issue.message;
  }
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/** The value with the nearest name, where only certain ones are valid. */
function nearValue(issue: z.core.$ZodIssue, value: unknown): string {
  return issue.code === 'invalid_value' && typeof value === 'string' ? didYouMean(value, issue.values.map(String)) : '';
}

/** Fields of the object at a path, such as those of a message of the history. */
function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    return fieldsAt(schema.unwrap() as z.ZodType, path);
  }
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element as z.ZodType, path.slice(1));
  if (!(schema instanceof z.ZodObject)) return [];
  const [field, ...rest] = path;
  if (field === undefined) return Object.keys(schema.shape);
  return fieldsAt((schema.shape as Record<PropertyKey, z.ZodType>)[field]!, rest);
}

/** Fields that a conversion makes up where they are missing. */
const madeUpFields: readonly string[] = ['memoryId', 'createdAt', 'itemId', 'askedAt'];

/** How to have them made up. @param place `file:line` */
function makingUp(place: string): string {
  const file = place.replace(/:\d+$/u, '');
  return `ids and times can be made up: npx dki-bench data convert ${file} --from jsonl --out ready.jsonl`;
}

function badField(place: string, record: unknown, issue: z.core.$ZodIssue, schema: z.ZodObject): BenchError {
  const fields = fieldsAt(schema, issue.code === 'unrecognized_keys' ? issue.path : []);
  const hint = `the fields of this record are ${fields.join(', ')}`;
  if (issue.code === 'unrecognized_keys') {
    const field = issue.keys[0]!;
    const name = fieldName([...issue.path, field]);
    return new BenchError('bad-data', `${place}: ${name} is no field of this record${didYouMean(field, fields)}`, hint);
  }
  const value = valueAt(record, issue.path);
  const got = `${shownValue(value)}${nearValue(issue, value)}`;
  const expected = [fieldName(issue.path), expectation(issue)].filter((part) => part !== '').join(' ');
  const isMadeUp = value === undefined && madeUpFields.includes(fieldName(issue.path));
  const help = isMadeUp ? `${makingUp(place)}; ${hint}` : hint;
  return new BenchError('bad-data', `${place}: ${expected}, got ${got}`, help);
}

function parsedJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `${place}: is not JSON: ${(error as Error).message}`;
    throw new BenchError('bad-data', message, 'write one JSON object a line (JSON Lines)', error);
  }
}

/** Parses one line as a JSON object. @throws BenchError `bad-data` that names file and line */
export function parsedObject(text: string, place: string): Readonly<Record<string, unknown>> {
  const value = parsedJson(text, place);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  const message = `${place}: expected an object, got ${shownValue(value)}`;
  throw new BenchError('bad-data', message, 'write one JSON object a line (JSON Lines)');
}

/**
 * Parses one line of a data set as a record of its `type`.
 * @throws BenchError `bad-data` that names file, line and field, with the expected and the actual value
 */
export function parseRecord(
  text: string,
  place: string,
): Placed<DatasetRecord | MemoryRecord | ItemRecord | QuestionRecord> {
  const value = parsedObject(text, place);
  const kinds = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];
  const hint = `a record is one JSON object with type ${kinds.join(', ')}`;
  const type = value['type'];
  const kind = kinds.find((known) => known === type);
  if (kind === undefined) {
    const near = typeof type === 'string' ? didYouMean(type, kinds) : '';
    throw new BenchError(
      'bad-data',
      `${place}: type expected ${kinds.join(' or ')}, got ${shownValue(type)}${near}`,
      hint,
    );
  }
  const record = checkedBy(recordSchemas[kind], value, place);
  return { record: record.type === 'item' ? withAliases(record) : record, place };
}

/** Both names of accepted answers become one. */
function withAliases({ aliases, ...item }: z.output<typeof recordSchemas.item>): ItemRecord {
  return aliases === undefined ? item : { ...item, acceptedAnswers: [...item.acceptedAnswers, ...aliases] };
}

/**
 * Checks a value against a schema and fills in its defaults.
 * @throws BenchError `bad-data` that names place and field, with the expected and the actual value
 */
export function checkedBy<Schema extends z.ZodObject>(schema: Schema, value: unknown, place: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw badField(place, value, result.error.issues[0]!, schema);
  return result.data;
}
