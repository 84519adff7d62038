import { z } from 'zod';
import { fastPathRules, journalUri } from './memory-file-rules.ts';
import { metadataTime, readMetadata } from '../stored-memory.ts';
import type { StoredMemory } from '../memory-vector-index.ts';

/** A memory with the fields of its metadata that salience needs. */
export type SalienceEntry = ReturnType<typeof salienceEntry>;

const text = z.string('a text').optional();
const scopes = z.enum(['global', 'project'], 'global or project').optional();
const count = z
  .number('a number from 0')
  .min(0, 'a number from 0')
  .nullish()
  .transform((value) => value ?? 1);

/**
 * Reads `uri`, `section`, `memory_type`, `scope`, `updatedAt` (else `createdAt`), `reinforcement` and `preference` from the
 * metadata. Defaults: type `preference` for a preference, else `fact`; the file of that type in `fastPathRules`, else the day's
 * journal; reinforcement 1; time of adding. A memory is both in its file and in the journal of its day.
 * @throws BenchError `bad-data` that names memory and field
 */
export function salienceEntry(memory: StoredMemory, tokenCount: number, addedMs: number) {
  const read = <Value>(field: string, schema: z.ZodType<Value>): Value => readMetadata(memory, field, schema);
  const memoryType = read('memory_type', text) ?? (memory.metadata['preference'] === true ? 'preference' : 'fact');
  const updatedAtMs = read('updatedAt', metadataTime) ?? read('createdAt', metadataTime) ?? addedMs;
  const journal = journalUri(updatedAtMs);
  const uri = read('uri', text) ?? fastPathRules.find((rule) => rule.memoryType === memoryType)?.uri ?? journal;
  return {
    ...memory,
    uri,
    journal,
    section: read('section', text.default('')),
    memoryType,
    scope: read('scope', scopes) ?? fastPathRules.find((rule) => rule.uri === uri)?.scope ?? ('global' as const),
    updatedAtMs,
    reinforcement: read('reinforcement', count),
    tokenCount,
  };
}
