import type { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';

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
