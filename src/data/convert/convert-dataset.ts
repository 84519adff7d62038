import { realpathSync, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { BenchError } from '../../config/bench-error.ts';
import { grammars } from '../../config/grammar.ts';
import type { Language } from '../normalise.ts';
import { checkedBy } from '../parse-record.ts';
import { recordSchemas } from '../schema.ts';
import { writeLines } from '../write-lines.ts';
import { csvRows } from './csv-rows.ts';
import { FieldNames } from './field-names.ts';
import { jsonlRows } from './jsonl-rows.ts';
import { locomoRecords } from './locomo.ts';
import { recordsOfRow } from './rows.ts';
import { ConversionNotes, type SourceRecord } from './source-record.ts';
import { WrittenRecords } from './written-records.ts';

/** The formats that can be converted. */
export const sourceFormats = ['csv', 'jsonl', 'locomo'] as const;
export type SourceFormat = (typeof sourceFormats)[number];

export interface ConversionOptions {
  readonly from: SourceFormat;
  readonly file: string;
  readonly out: string;
  readonly language: Language;
  /** Of the data set; default: the name of the written file. */
  readonly name?: string | undefined;
  /** Columns by field, such as `answer=gold,user=speaker`. */
  readonly map?: string | undefined;
}

/** Counts of the written records, and the assumptions that the conversion made. */
export interface Conversion {
  readonly file: string;
  readonly users: number;
  readonly memories: number;
  readonly items: number;
  readonly notes: readonly string[];
}

const unknownAnswers: Readonly<Record<Language, string>> = {
  en: grammars.en.unknownAnswer,
  zh: grammars.zh.unknownAnswer,
};

async function* recordsOf(
  { from, file, map }: ConversionOptions,
  notes: ConversionNotes,
): AsyncGenerator<SourceRecord> {
  if (from === 'locomo') {
    yield* locomoRecords(file, notes);
    return;
  }
  const names = new FieldNames(map);
  for await (const row of from === 'csv' ? csvRows(file) : jsonlRows(file)) yield* recordsOfRow(row, names, notes);
  names.requireMapped(file);
  const unused = names.unused();
  if (unused.length > 0) notes.add(`columns that were not used: ${unused.join(', ')}`, file);
}

/**
 * Converts a file of another format to a data set in JSON Lines, without holding its texts: memories in their order, then
 * the questions. An existing file at `out` stays until the new one is complete.
 * @throws BenchError `bad-data` that names the place in the file at fault, `bad-option`, `not-found` or `disk`
 */
export async function convertDataset(options: ConversionOptions): Promise<Conversion> {
  const { from, file, out, language, map } = options;
  if (from === 'locomo' && map !== undefined) {
    throw new BenchError('bad-option', '--map: LoCoMo files have fixed names', 'leave it out');
  }
  if (existsSync(out) && existsSync(file) && realpathSync(out) === realpathSync(file)) {
    throw new BenchError('bad-option', `--out ${out}: is the file to be converted`, 'name another file');
  }
  const notes = new ConversionNotes();
  const records = new WrittenRecords(notes);
  const name = options.name ?? basename(out).replace(/\.jsonl$/, '');
  const header = { type: 'dataset', name, language, version: 1, unknownAnswer: unknownAnswers[language] };
  async function* lines(): AsyncGenerator<string> {
    yield JSON.stringify(checkedBy(recordSchemas.dataset, header, '--name'));
    for await (const record of records.of(recordsOf(options, notes))) yield JSON.stringify(record);
    if (records.counts.items > 0) return;
    throw new BenchError('bad-data', `${file}: has no questions`, 'add rows with a question');
  }
  await writeLines(out, lines());
  return { file: out, ...records.counts, notes: notes.list() };
}
