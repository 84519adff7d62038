import { recordLines } from '../data-file-records.ts';
import { parseObject } from '../parse-record.ts';
import type { Row } from './convert-row.ts';

/** Reads JSON Lines with any keys. @throws BenchError `not-found`, `bad-data` for a line that is not a JSON object */
export async function* jsonlRows(path: string): AsyncGenerator<Row> {
  for await (const { number, text } of recordLines(path)) {
    const place = `${path}:${number}`;
    const values = Object.entries(parseObject(text, place));
    yield {
      place,
      values: values.filter(([key, value]) => key !== 'type' || (value !== 'memory' && value !== 'item')),
    };
  }
}
