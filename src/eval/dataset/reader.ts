import { basename } from 'node:path';
import { BenchError } from '../../config/bench-error.ts';
import { templates } from '../../config/templates.ts';
import { assembleUsers } from './assemble.ts';
import type { Dataset } from './dataset.ts';
import { fileLines } from './file-lines.ts';
import { parseRecord, type Placed } from './parse-record.ts';
import type { DatasetRecord, ItemRecord, MemoryRecord } from './schema.ts';

function checkKinds(header: Placed<DatasetRecord>, users: ReadonlySet<string>): void {
  const unknown = Object.keys(header.record.userKinds ?? {}).find((userId) => !users.has(userId));
  if (unknown === undefined) return;
  const message = `${header.place}: userKinds expected users of this file, got "${unknown}"`;
  throw new BenchError('bad-data', message, 'name only users that have a memory or an item');
}

/**
 * Reads a data set in JSON Lines, one record a line: an optional `dataset` record first, then `memory` and `item`
 * records in any order. The text in it is data: none of it is used as a path or a command.
 * @throws BenchError `not-found` for a missing file, `bad-data` for anything else that is wrong with it, naming
 * file, line and field
 */
export async function readDataset(path: string): Promise<Dataset> {
  const lines = fileLines(path);
  const memories: Placed<MemoryRecord>[] = [];
  const items: Placed<ItemRecord>[] = [];
  let header: Placed<DatasetRecord> | undefined;
  let records = 0;
  for await (const line of lines) {
    const { record, place } = parseRecord(line.text, `${path}:${line.number}`);
    records++;
    if (record.type === 'memory') memories.push({ record, place });
    else if (record.type === 'item') items.push({ record, place });
    else if (records === 1) header = { record, place };
    else {
      const message = `${place}: type expected memory or item, got "dataset" after the first record`;
      throw new BenchError('bad-data', message, 'a dataset record stands first, once');
    }
  }
  if (records === 0) throw new BenchError('bad-data', `${path}: is empty`, 'a data set holds at least one item record');
  const users = assembleUsers(memories, items, header?.record.userKinds ?? {});
  if (header !== undefined) checkKinds(header, new Set(users.map((user) => user.userId)));
  if (items.length === 0) {
    throw new BenchError(
      'bad-data',
      `${path}: has no items`,
      'add records with "type":"item": without questions nothing is measured',
    );
  }
  return {
    name: header?.record.name ?? basename(path).replace(/\.jsonl$/, ''),
    sha256: lines.sha256(),
    language: header?.record.language ?? 'en',
    unknownAnswer: header?.record.unknownAnswer ?? templates.unknownAnswer,
    users,
  };
}
