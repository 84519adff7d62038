import { BenchError } from '../base/bench-error.ts';
import type { DatasetSource } from './dataset-source.ts';
import { parseRecord, type Placed } from './parse-record.ts';
import type { DatasetRecord, ItemRecord, MemoryRecord, QuestionRecord } from './schema.ts';

/** Names of the rules of a valid data set, for programs that look for one. */
export type Rule =
  | 'schema'
  | 'header'
  | 'duplicate-id'
  | 'supersedes'
  | 'updated-before-created'
  | 'links'
  | 'evidence'
  | 'evidence-after-question'
  | 'absent-with-evidence'
  | 'passages';

/** Receives the problems of a file one by one; if it throws, the first problem ends the check. */
export type Report = (rule: Rule, problem: BenchError) => void;

/** The records of a file in the order of its lines, before they are checked against one another. */
export interface DatasetRecords {
  readonly path: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  readonly header: Placed<DatasetRecord> | undefined;
  readonly memories: readonly Placed<MemoryRecord>[];
  readonly items: readonly Placed<ItemRecord>[];
  /** Questions without answers; a consistent file has no items beside them. */
  readonly questions: readonly Placed<QuestionRecord>[];
}

/**
 * Reads the records of a data set; an invalid line is reported and left out.
 * @throws BenchError `not-found` for a missing file, `bad-data` for one that is not UTF-8, has a line over 16 MB or is
 * empty
 */
export async function readRecords({ place: path, lines }: DatasetSource, report: Report): Promise<DatasetRecords> {
  const memories: Placed<MemoryRecord>[] = [];
  const items: Placed<ItemRecord>[] = [];
  const questions: Placed<QuestionRecord>[] = [];
  let header: Placed<DatasetRecord> | undefined;
  let count = 0;
  for await (const line of lines) {
    count++;
    const placed = parsed(line.text, `${path}:${line.number}`, report);
    if (placed === undefined) continue;
    const { record, place } = placed;
    if (record.type === 'memory') memories.push({ record, place });
    else if (record.type === 'item') items.push({ record, place });
    else if (record.type === 'question') questions.push({ record, place });
    else if (count === 1) header = { record, place };
    else {
      const message = `${place}: type expected memory or item, got "dataset" after the first record`;
      report('header', new BenchError('bad-data', message, 'a dataset record stands first, once'));
    }
  }
  if (count === 0) throw new BenchError('bad-data', `${path}: is empty`, 'a data set holds at least one item record');
  return { path, sha256: lines.sha256(), header, memories, items, questions };
}

function parsed(text: string, place: string, report: Report): ReturnType<typeof parseRecord> | undefined {
  try {
    return parseRecord(text, place);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    report('schema', error);
    return undefined;
  }
}
