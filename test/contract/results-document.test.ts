import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { runResults } from '../../src/store/records/run-results.ts';
import { turnColumns } from '../../src/report/export-turns.ts';

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
}

/** Names of all fields of a document: those of objects, and the keys of records that are limited to a list. */
function fieldsOf({ properties = {}, propertyNames, items, anyOf = [] }: JsonSchema): string[] {
  const below = [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])];
  return [...Object.keys(properties), ...(propertyNames?.enum ?? []), ...below.flatMap(fieldsOf)];
}

/** Entries such as "- `a`, `b`: meaning". */
const entry = /^- ((?:`[\w.[\]]+`,?\s*)+):/gm;

const whole = readFileSync(join(import.meta.dirname, '../../docs/results.md'), 'utf8').replaceAll(
  /^```[^]*?^```/gm,
  '',
);
/** The document, and the list of turns. */
const [page = '', ofTurns = ''] = whole.split(/^## A line per turn$/m);
it('documents every column of the list of turns in order, and none that it has not', () => {
  const listed = [...ofTurns.matchAll(entry)].map(([, names]) => names!);
  expect(listed.flatMap((names) => names.match(/(?<=`)\w+(?=`)/g) ?? [])).toEqual(turnColumns.map(({ name }) => name));
});

const schema = z.toJSONSchema(runResults, { io: 'output', unrepresentable: 'any' }) as JsonSchema;

it('documents every field of results.json, and none that it has not', () => {
  const fields = new Set(fieldsOf(schema));
  expect(fields.size).toBeGreaterThan(100);
  const written = [...page.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
  const named = new Set(written.flatMap((code) => code.match(/[A-Za-z0-9-]+/g) ?? []));
  expect([...fields].filter((field) => !named.has(field))).toEqual([]);

  const listed = [...page.matchAll(entry)].flatMap(([, names]) => names!.match(/(?<=`)\w[\w.[\]]*(?=`)/g) ?? []);
  const last = listed.map((path) => path.replaceAll('[]', '').split('.').at(-1)!);
  expect(last.length).toBeGreaterThan(50);
  expect(last.filter((field) => !fields.has(field))).toEqual([]);
});
