import { open } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { BenchError } from '../../base/bench-error.ts';
import { unreadable } from '../file-lines.ts';
import type { Row } from './rows.ts';

const MOST_RECORD_CHARACTERS = 16_000_000;
const FIRST_LINE_BYTES = 65_536;
const DELIMITERS = [',', ';', '\t'] as const;

/** Returns the delimiter that is most frequent in the first line, outside of quotes. */
async function delimiterOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
    const [line = ''] = buffer
      .toString('utf8', 0, bytesRead)
      .replaceAll(/"[^"]*"/g, '')
      .split(/\r?\n/, 1);
    const count = (delimiter: string): number => line.split(delimiter).length;
    return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
  } finally {
    await file.close();
  }
}

async function* decoded(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      yield decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
    }
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = `${path}: is not UTF-8, somewhere after byte ${bytes}`;
    throw new BenchError('bad-data', message, 'save the file as UTF-8', error);
  }
}

/** Converts an error of the parser to one that names file and line. */
function badCsv(path: string, error: CsvError): BenchError {
  const context = error as CsvError & { readonly lines?: number };
  const reason = error.message.replace(/ on line \d+.*$/su, '').split('\n')[0]!;
  const place = context.lines === undefined ? path : `${path}:${context.lines}`;
  const hint =
    'every row has as many cells as the first; a cell with delimiters, quotes or line breaks stands in quotes';
  return new BenchError('bad-data', `${place}: is not CSV: ${reason}`, hint, error);
}

function headerOf(path: string, columns: readonly string[]): readonly string[] {
  const names = columns.map((column) => column.trim());
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice === undefined) return names;
  throw new BenchError('bad-data', `${path}:1: column "${twice}" occurs twice`, 'give each column a name of its own');
}

const lineBreaks = (cells: readonly string[]): number =>
  cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/gu)?.length ?? 0), 0);

/**
 * Reads a CSV file row by row without holding it whole; the first row names the columns. Cells are separated by commas,
 * semicolons or tabs, whichever the first row holds most; empty rows are skipped.
 * @throws BenchError `not-found` for a missing file, `bad-data` for one that is not UTF-8 or not CSV
 */
export async function* csvRows(path: string): AsyncGenerator<Row> {
  try {
    const delimiter = await delimiterOf(path);
    const parser = parse({
      bom: true,
      delimiter,
      info: true,
      max_record_size: MOST_RECORD_CHARACTERS,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    });
    pipeline(decoded(path), parser, () => undefined);
    let columns: readonly string[] | undefined;
    for await (const parsed of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const { record, info } = parsed;
      if (columns === undefined) {
        columns = headerOf(path, record);
        continue;
      }
      // The parser gives the last line of a row.
      const place = `${path}:${info.lines - lineBreaks(record)}`;
      yield { place, values: columns.map((column, index) => [column, record[index]] as const) };
    }
    if (columns !== undefined) return;
  } catch (error) {
    if (error instanceof BenchError) throw error;
    throw error instanceof CsvError ? badCsv(path, error) : unreadable(path, error);
  }
  throw new BenchError('bad-data', `${path}: is empty`, 'its first row names the columns');
}
