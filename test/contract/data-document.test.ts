import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { convertDataset } from '../../src/data/convert/convert-dataset.ts';
import { ColumnMapping, knownFields } from '../../src/data/convert/column-mapping.ts';
import { readDataset } from '../../src/data/read-dataset.ts';
import { recordSchemas } from '../../src/data/record-schemas.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/data.md'), 'utf8');
const kinds = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];

interface DocumentedField {
  readonly name: string;
  readonly isNeeded: boolean;
  readonly text: string;
}

/** The entries of a record, such as "- `userId` (needed): owner". */
function documented(kind: keyof typeof recordSchemas): DocumentedField[] {
  const [, section = ''] = page.split(`\n### \`${kind}\`\n`);
  const [entries = ''] = section.split(/\n##/);
  return entries.split(/^- /m).flatMap((text) => {
    const [, name, needed] = /^`(\w+)`( \(needed\))?/.exec(text) ?? [];
    return name === undefined ? [] : [{ name, isNeeded: needed !== undefined, text }];
  });
}

/** Texts that a field must be one of, at any depth. */
function choicesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { enum: names = [], const: name } = schema as { readonly enum?: readonly string[]; readonly const?: unknown };
  return [...names, ...(typeof name === 'string' ? [name] : []), ...Object.values(schema).flatMap(choicesOf)];
}

describe.each(kinds)('the fields of a record of type %s', (kind) => {
  const shape = recordSchemas[kind].shape as Readonly<Record<string, z.ZodType>>;
  const fields = Object.keys(shape).filter((field) => field !== 'type');

  it('are documented, each in its place, and no others', () => {
    expect(documented(kind).map(({ name }) => name)).toEqual(fields);
  });

  it('are needed where the document says so', () => {
    const { required } = z.toJSONSchema(recordSchemas[kind], { io: 'input', unrepresentable: 'any' });
    const needed = documented(kind).filter(({ isNeeded }) => isNeeded);
    expect(needed.map(({ name }) => name)).toEqual(required!.filter((field) => field !== 'type'));
  });

  it('are shown with all their choices', () => {
    const missing = documented(kind).flatMap(({ name, text }) =>
      [...new Set(choicesOf(z.toJSONSchema(shape[name]!, { io: 'input', unrepresentable: 'any' })))]
        .filter((choice) => !text.includes(`\`${choice}\``) && !text.includes(`"${choice}"`))
        .map((choice) => `${name}: ${choice}`),
    );
    expect(missing).toEqual([]);
  });
});

it('CSV can hold all fields', () => {
  const names = new ColumnMapping(undefined);
  const fields = (['memory', 'item'] as const).flatMap((kind) => documented(kind).map(({ name }) => name));
  expect(fields.filter((field) => names.field(field) === undefined)).toEqual([]);
  const found = new Set(fields.map((field) => names.field(field)));
  expect(knownFields.filter((field) => !found.has(field))).toEqual([]);
});

describe('the examples', () => {
  const folder = temporaryFolder();
  const examples = (language: string): string[] =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);

  it('in JSON Lines are data sets, the first with every field that a set of one\u2019s own may want', async () => {
    for (const [index, text] of examples('jsonl').entries()) {
      const file = folder.file(`${index}.jsonl`);
      writeFileSync(file, text);
      expect((await readDataset(file)).users.flatMap(({ items }) => items).length).toBeGreaterThan(0);
    }
    const lines = examples('jsonl')[0]!.trim().split('\n');
    const fields = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line) as object)));
    const wanted = ['primaryMetric', 'language', 'answerPrefix', 'aliases', 'category', 'passages'];
    expect(wanted.filter((field) => !fields.has(field))).toEqual([]);
  });

  it('in CSV are converted to data sets without a column that is not used', async () => {
    const texts = examples('csv');
    expect(texts[0]).toMatch(/^[^\n]*,aliases,answer_prefix,language,category,passages\n/);
    for (const [index, text] of texts.entries()) {
      const [file, out] = [folder.file(`${index}.csv`), folder.file(`${index}-converted.jsonl`)];
      writeFileSync(file, text);
      const { notes } = await convertDataset({ from: 'csv', file, out });
      expect(notes.filter((note) => note.includes('not used'))).toEqual([]);
      const [user] = (await readDataset(out)).users;
      expect(user!.items[0]!.passages).not.toHaveLength(0);
      expect(user!.items[0]!.evidence).not.toHaveLength(0);
    }
  });
});
