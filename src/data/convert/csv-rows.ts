import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { BenchError } from '../../base/bench-error.ts';
import { fileText, unreadable } from '../stream-text-file.ts';
import type { Row } from './convert-row.ts';

const MAX_RECORD_CHARACTERS = 16_000_000;
const DELIMITERS = [',', ';', '\t'] as const;

async function findDelimiter(path: string): Promise<string> {
  let start = '';
  for await (const piece of fileText(path)) {
    start = piece;
    break;
  }
  const unquoted = start.replaceAll(/"[^"]*"/g, '');
  const [line = ''] = unquoted.split(/\r?\n/, 1);
  const count = (delimiter: string): number => line.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

function badCsv(path: string, error: CsvError, countedTwice: number): BenchError {
  const { lines } = error as CsvError & { readonly lines?: number };
  const reason = error.message.replace(/ on line \d+.*$/su, '').split('\n')[0]!;
  const place = lines === undefined ? path : `${path}:${lines - countedTwice}`;
  const hint = 'every row needs as many cells as the first; quote cells with delimiters, quotes or line breaks';
  return new BenchError('bad-data', `${place}: is not CSV: ${reason}`, hint, error);
}

function columnNames(path: string, cells: readonly string[]): string[] {
  const names = cells.map((cell) => cell.trim());
  const met = new Set<string>();
  const twice = names.find((name) => name !== '' && met.size === met.add(name).size);
  if (twice === undefined) return names;
  throw new BenchError('bad-data', `${path}:1: column "${twice}" occurs twice`, 'give each column a unique name');
}

/**
 * Reads a CSV file row by row without holding it whole; the first row names the columns. Cells are separated by commas,
 * semicolons or tabs, whichever the first row holds most; empty rows are skipped.
 * @throws BenchError `not-found` for a missing file, `bad-data` for one that is not UTF-8 or not CSV
 */
export async function* csvRows(path: string): AsyncGenerator<Row> {
  // The parser counts "\r\n" within a cell as two lines.
  let countedTwice = 0;
  try {
    const parser = parse({
      bom: true,
      delimiter: await findDelimiter(path),
      info: true,
      max_record_size: MAX_RECORD_CHARACTERS,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    });
    pipeline(fileText(path), parser, () => undefined);
    let columns: readonly string[] | undefined;
    for await (const parsed of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const { record, info } = parsed;
      const lineBreaks = record.join('').match(/\r\n|\r|\n/gu) ?? [];
      countedTwice += lineBreaks.filter((lineBreak) => lineBreak === '\r\n').length;
      if (columns === undefined) {
        columns = columnNames(path, record);
        continue;
      }
      // The parser states the last line of a row; messages name the first.
      const place = `${path}:${info.lines - countedTwice - lineBreaks.length}`;
      yield { place, values: columns.map((column, index) => [column, record[index]] as const) };
    }
    if (columns !== undefined) return;
  } catch (error) {
    if (error instanceof BenchError) throw error;
    throw error instanceof CsvError ? badCsv(path, error, countedTwice) : unreadable(path, error);
  }
  throw new BenchError('bad-data', `${path}: is empty`, 'its first row names the columns');
}
