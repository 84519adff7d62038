import { fileLines } from '../file-lines.ts';
import { parsedObject } from '../parse-record.ts';
import type { Row } from './rows.ts';

/** The type that our own records name: rows show it by their columns. */
function isOurType([key, value]: readonly [string, unknown]): boolean {
  return key === 'type' && (value === 'memory' || value === 'item');
}

/**
 * Reads a JSON Lines file whose objects have any fields; our own records may lack some.
 * @throws BenchError `not-found` for a missing file, `bad-data` for a line that is not a JSON object
 */
export async function* jsonlRows(path: string): AsyncGenerator<Row> {
  for await (const { number, text } of fileLines(path)) {
    const place = `${path}:${number}`;
    yield { place, values: Object.entries(parsedObject(text, place)).filter((entry) => !isOurType(entry)) };
  }
}
