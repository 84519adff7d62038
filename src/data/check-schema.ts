import { z } from 'zod';
import { BenchError, didYouMean, formatValue } from '../base/bench-error.ts';

/** Error for an unexpected value. @param at place and field @param got the value, formatted */
export function mismatch(at: string, expectation: string, got: string, hint: string): BenchError {
  return new BenchError('bad-data', `${at} expected ${expectation}, got ${got}`, hint);
}

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `expected ${issue.expected}`;
  return issue.code === 'invalid_value' ? `expected ${issue.values.map(String).join(' or ')}` : issue.message;
}

function fieldName(path: readonly PropertyKey[]): string {
  const parts = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`));
  return parts.join('').replace(/^\./, '');
}

/** Names of the fields of the object at a path, such as `history[0]`. */
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

/** Fields that `data convert` generates if they are missing. */
const generatedFields: readonly string[] = ['memoryId', 'createdAt', 'itemId', 'askedAt'];

function badField(place: string, record: unknown, issue: z.core.$ZodIssue, schema: z.ZodObject): BenchError {
  const fields = fieldsAt(schema, issue.code === 'unrecognized_keys' ? issue.path : []);
  const hint = `the fields of this record are ${fields.join(', ')}`;
  if (issue.code === 'unrecognized_keys') {
    const field = issue.keys[0]!;
    const name = fieldName([...issue.path, field]);
    const message = `${place}: ${name} is not a field of this record${didYouMean(field, fields)}`;
    return new BenchError('bad-data', message, hint);
  }
  const value = issue.path.reduce<unknown>(
    (object, key) => (object as Record<PropertyKey, unknown> | undefined)?.[key],
    record,
  );
  const near =
    issue.code === 'invalid_value' && typeof value === 'string' ? didYouMean(value, issue.values.map(String)) : '';
  const field = fieldName(issue.path);
  const message = `${place}: ${field}${field === '' ? '' : ' '}${expectation(issue)}, got ${formatValue(value)}${near}`;
  const isConvertible = generatedFields.includes(field) && (value === undefined || field.endsWith('At'));
  const convert = `npx dki-bench data convert ${place.replace(/: ?\[?\d+\]?$/u, '')} --from jsonl --out ready.jsonl`;
  const byConverting = `to generate ids and times, or read other forms of times: ${convert}; ${hint}`;
  return new BenchError('bad-data', message, isConvertible ? byConverting : hint);
}

/** Checks a value, and fills in defaults. @throws BenchError `bad-data` naming place, field and value */
export function checkSchema<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
  place: string,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw badField(place, value, result.error.issues[0]!, schema);
  return result.data;
}
