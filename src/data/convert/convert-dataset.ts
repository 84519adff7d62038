import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { grammarFor } from '../../base/english-and-chinese-wordings.ts';
import { type Language, isLanguageTag, knownLanguage } from '../../base/language.ts';
import { isPublicDataset, publicDatasetNames, publicDatasetOrigins } from '../../config/public-datasets.ts';
import { recordSchemas } from '../record-schemas.ts';
import { writeLines } from '../write-lines.ts';
import { csvRows } from './csv-rows.ts';
import { readLocomoErrata } from './locomo-errata.ts';
import { ColumnMapping } from './column-mapping.ts';
import { type Row, SHOWN_COLUMNS, convertRow } from './convert-row.ts';
import { publicDatasetFormats } from './public-dataset-formats.ts';
import { ConversionNotes, type SourceRecord } from './source-record.ts';
import { RecordCompleter } from './complete-records.ts';
import { checkSchema } from '../check-schema.ts';
import { recordLines } from '../stream-json-list.ts';
import { parseObject } from '../read-records.ts';

export const sourceFormats = ['csv', 'jsonl', ...publicDatasetNames] as const;
export type SourceFormat = (typeof sourceFormats)[number];

export interface ConversionSource {
  readonly from: SourceFormat;
  readonly file: string;
  /** Default: that of the file's own first line, else English. */
  readonly language?: Language | undefined;
  /** Default: that of the file's own first line, else the name that the caller gives. */
  readonly name?: string | undefined;
  /** Columns by field, such as `answer=gold,user=speaker`. */
  readonly map?: string | undefined;
  readonly errata?: string | undefined;
}

export interface ConversionOptions extends ConversionSource {
  readonly out: string;
}

export type Conversion = Awaited<ReturnType<typeof convertDataset>>;

function requireFittingOptions({ from, map, errata, language }: ConversionSource): void {
  if (language !== undefined && !isLanguageTag(language)) {
    const message = `--language ${JSON.stringify(language)}: expected a language tag`;
    throw new BenchError('bad-option', message, 'write a tag such as en, zh, de or pt-BR');
  }
  if (isPublicDataset(from) && map !== undefined) {
    throw new BenchError('bad-option', `--map: files of ${from} have fixed field names`, 'leave it out');
  }
  if (from !== 'locomo' && errata !== undefined) {
    throw new BenchError('bad-option', `--errata: there are none for ${from}`, 'errata correct locomo');
  }
}

/** The record with which a file of ours begins, and which its conversion keeps; empty if it has none. */
async function writtenHeader({ from, file }: ConversionSource): Promise<Readonly<Record<string, unknown>>> {
  if (from !== 'jsonl') return {};
  for await (const { text, place } of recordLines(file)) {
    const first = parseObject(text, place);
    return first['type'] === 'dataset' ? first : {};
  }
  return {};
}

function defaultHeader(from: SourceFormat, name: string, language: Language): Readonly<Record<string, unknown>> {
  const header = { type: 'dataset', name, language, version: 1, unknownAnswer: grammarFor(language).unknownAnswer };
  // Users' own questions mostly go to models that answer in sentences.
  if (!isPublicDataset(from)) return { ...header, primaryMetric: 'contains' };
  const { primaryMetric, note } = publicDatasetFormats[from];
  // The texts of a public data set may not be passed on: reports hold hashes instead.
  return { ...header, primaryMetric, licence: publicDatasetOrigins[from].licence, texts: 'withheld', note };
}

/**
 * Converts a file to lines of a data set: memories, then questions. Call counts, notes and hashes after the last line.
 * @throws BenchError `bad-option` at once; `bad-data` that names the place at fault, or `not-found`, while iterating
 */
export function convertLines(source: ConversionSource, defaultName: string) {
  requireFittingOptions(source);
  const { from, file, map, language, name } = source;
  const notes = new ConversionNotes();
  if (language !== undefined && knownLanguage(language) === undefined) {
    notes.add(`unknownAnswer of the first line is English: write what "I don't know." is in ${language}`, file);
  }
  const records = new RecordCompleter(notes);
  let sha256: { readonly file: string; readonly errata?: string } | undefined;

  async function* sourceRecords(): AsyncGenerator<SourceRecord> {
    if (isPublicDataset(from)) {
      const { open, records: read } = publicDatasetFormats[from];
      const errata = source.errata === undefined ? undefined : await readLocomoErrata(source.errata);
      const elements = open(file);
      yield* read(file, elements, { notes, errata });
      sha256 = { file: elements.sha256(), ...(errata === undefined ? {} : { errata: errata.sha256 }) };
      return;
    }
    const names = new ColumnMapping(map);
    for await (const row of from === 'csv' ? csvRows(file) : jsonlRows(file)) yield* convertRow(row, names, notes);
    names.requireMapped(file);
    const unused = names.unused();
    const more = unused.length > SHOWN_COLUMNS ? ` and ${unused.length - SHOWN_COLUMNS} more` : '';
    const shown = unused.slice(0, SHOWN_COLUMNS).join(', ');
    if (unused.length > 0) notes.add(`columns that were not used: ${shown}${more}`, file);
  }

  async function* lines(): AsyncGenerator<string> {
    const written = await writtenHeader(source);
    const given = { ...(language === undefined ? {} : { language }), ...(name === undefined ? {} : { name }) };
    const stated = { ...written, ...given };
    const spoken = typeof stated.language === 'string' ? stated.language : 'en';
    const header = { ...defaultHeader(from, defaultName, spoken), ...stated };
    yield JSON.stringify(checkSchema(recordSchemas.dataset, header, 'type' in written ? file : '--name'));
    for await (const record of records.convert(sourceRecords())) yield JSON.stringify(record);
    if (records.counts.items > 0) return;
    throw new BenchError('bad-data', `${file}: has no questions`, 'add rows with a question');
  }

  return { lines: lines(), counts: () => records.counts, notes: () => notes.list(), sha256: () => sha256 };
}

/** Converts a file to JSON Lines. @throws BenchError `bad-data` naming the place, `bad-option`, `not-found`, `disk` */
export async function convertDataset({ out, ...options }: ConversionOptions) {
  const { file } = options;
  if (existsSync(out) && existsSync(file) && realpathSync(out) === realpathSync(file)) {
    throw new BenchError('bad-option', `--out ${out}: is the file to be converted`, 'name another file');
  }
  const converted = convertLines(options, basename(out).replace(/\.jsonl$/, ''));
  await writeLines(out, converted.lines);
  return { file: out, ...converted.counts(), notes: converted.notes() };
}

/** Reads JSON Lines with any keys. @throws BenchError `not-found`, `bad-data` for a line that is not a JSON object */
async function* jsonlRows(path: string): AsyncGenerator<Row> {
  for await (const { text, place } of recordLines(path)) {
    const { type, ...values } = parseObject(text, place);
    if (type === 'dataset') continue;
    const isOurs = type === undefined || type === 'memory' || type === 'item';
    yield { place, values: Object.entries(isOurs ? values : { type, ...values }) };
  }
}
