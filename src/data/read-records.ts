import { BenchError } from '../base/bench-error.ts';
import type { FileLines } from './stream-text-file.ts';
import { parseRecord, type Placed } from './parse-record.ts';
import type { DatasetRecord, ItemRecord, MemoryRecord, QuestionRecord } from './record-schemas.ts';
import type { Report } from './dataset-problem.ts';
import { mismatch } from './check-schema.ts';

/** The records of a file in the order of its lines, before they are checked against one another. */
export type DatasetRecords = Awaited<ReturnType<typeof readRecords>>;

/**
 * Reads the records of a data set; an invalid line is reported and left out.
 * @param path name of the data set in messages
 * @throws BenchError `not-found` for a missing file, `bad-data` if it is empty, not UTF-8 or has a line over 16 MB
 */
export async function readRecords(path: string, lines: FileLines, report: Report) {
  const memories: Placed<MemoryRecord>[] = [];
  const items: Placed<ItemRecord>[] = [];
  const questions: Placed<QuestionRecord>[] = [];
  let header: Placed<DatasetRecord> | undefined;
  let count = 0;
  for await (const { text, place } of lines) {
    const record = parseOrReport(text, place, report);
    const isFirst = ++count === 1;
    if (record?.type === 'memory') memories.push({ record, place });
    else if (record?.type === 'item') items.push({ record, place });
    else if (record?.type === 'question') questions.push({ record, place });
    else if (record !== undefined && isFirst) header = { record, place };
    else if (record !== undefined) {
      const hint = 'write at most one dataset record, as the first line';
      report('header', mismatch(`${place}: type`, 'memory or item', '"dataset" after the first record', hint));
    }
  }
  if (count === 0) throw new BenchError('bad-data', `${path}: is empty`, 'write at least one item record');
  return { path, sha256: lines.sha256(), header, memories, items, questions };
}

function parseOrReport(text: string, place: string, report: Report): ReturnType<typeof parseRecord> | undefined {
  try {
    return parseRecord(text, place);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    report('schema', error);
    return undefined;
  }
}
