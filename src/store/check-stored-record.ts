import type { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';

/** Checks a stored record. @param name for the message @throws BenchError `database` if it does not fit the schema */
export function checkStoredRecord<Schema extends z.ZodType>(
  schema: Schema,
  stored: unknown,
  name: string,
): z.output<Schema> {
  const read = schema.safeParse(stored);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const message = `${name} cannot be read: ${issue!.path.join('.')}: ${issue!.message}`;
  const hint = 'it was written by another release; run the bench again with this one';
  throw new BenchError('database', message, hint, read.error);
}
