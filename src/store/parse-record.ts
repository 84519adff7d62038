import type { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { schemaVersion } from './records/zod-helpers.ts';

/** @param name of the record, for the message @throws BenchError `database` where it is not as this program writes it */
export function readRecord<Schema extends z.ZodType>(schema: Schema, stored: unknown, name: string): z.output<Schema> {
  const read = schema.safeParse(stored);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new BenchError(
    'database',
    `${name} cannot be read: ${issue!.path.join('.')}: ${issue!.message}`,
    'it was written by another release; run the bench again with this one',
    read.error,
  );
}

/** @throws BenchError `database` for records of another version than this program's */
export function requireSchemaVersion(version: number, name: string): void {
  if (version === schemaVersion) return;
  throw new BenchError(
    'database',
    `${name} holds records of version ${version}, this program reads version ${schemaVersion}`,
    version > schemaVersion
      ? 'update dki-bench, or name another file with --db'
      : 'run the bench again, or name another file with --db',
  );
}
