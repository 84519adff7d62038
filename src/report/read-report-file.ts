import { gunzipSync } from 'node:zlib';
import { BenchError } from '../base/bench-error.ts';
import { readToEnd } from '../base/read-remove-rename-files.ts';

const MAX_BYTES = 2 ** 30;

export const rewriteHint = 'write the report again: npx dki-bench tables --run NAME --write';

/** Reads a file of a report, and decompresses `.gz`. @throws BenchError `bad-data` */
export function readReportText(path: string): string {
  try {
    const bytes = readToEnd(path);
    return (path.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes).toString();
  } catch (error) {
    throw new BenchError('bad-data', `${path}: cannot be read: ${(error as Error).message}`, rewriteHint, error);
  }
}

/** Parses JSON of a report. @param place file and line, for messages @throws BenchError `bad-data` */
export function parseReportJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BenchError('bad-data', `${place}: is not JSON: ${(error as Error).message}`, rewriteHint, error);
  }
}
