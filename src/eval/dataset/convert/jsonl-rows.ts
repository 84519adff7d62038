import { fileLines } from '../file-lines.ts';
import { parsedObject } from '../parse-record.ts';
import type { Row } from './rows.ts';

/**
 * Reads a JSON Lines file whose objects have fields of any names.
 * @throws BenchError `not-found` for a missing file, `bad-data` for a line that is no JSON object
 */
export async function* jsonlRows(path: string): AsyncGenerator<Row> {
  for await (const { number, text } of fileLines(path)) {
    const place = `${path}:${number}`;
    yield { place, values: Object.entries(parsedObject(text, place)) };
  }
}
