import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import type { StoredMemory } from './memory-vector-index.ts';

/**
 * Reads a field of a memory's metadata.
 * @param schema with error messages that name the expected value
 * @throws BenchError `bad-data` that names memory, field and value
 */
export function readMetadata<Value>({ memoryId, metadata }: StoredMemory, field: string, schema: z.ZodType<Value>) {
  const { data, error } = schema.safeParse(metadata[field]);
  if (error === undefined) return data;
  const got = JSON.stringify(metadata[field]);
  const message = `memory '${memoryId}': ${field} expected ${error.issues[0]!.message}, got ${got}`;
  throw new BenchError('bad-data', message, 'correct its metadata, or leave the field out');
}

const expectedTime = 'a time such as 2026-03-01T09:00:00Z';

/** A time in the metadata, as milliseconds since 1970. */
export const metadataTime = z
  .string(expectedTime)
  .transform((time) => Date.parse(time))
  .pipe(z.number(expectedTime))
  .optional();
