import { z } from 'zod';
import { metadataTime, readMetadata, type StoredMemory } from '../memory-namespace.ts';
import { fastPathRules, journalUri, type MemoryScope } from './file-paths.ts';

/** A memory with the fields of its metadata that salience needs. */
export interface SalienceEntry extends StoredMemory {
  /** The file of the memory. */
  readonly uri: string;
  /** The journal file of the day on which it was written; the memory is in both. */
  readonly journal: string;
  readonly section: string;
  readonly memoryType: string;
  readonly scope: MemoryScope;
  readonly updatedAtMs: number;
  readonly reinforcement: number;
  readonly tokenCount: number;
}

const text = z.string('a text').optional();
const scopes = z.enum(['global', 'project'], 'global or project').optional();
const count = z.number('a number from 0').min(0, 'a number from 0').nullish();

/**
 * Reads `uri`, `section`, `memory_type`, `scope`, `updatedAt` (else `createdAt`), `reinforcement` and `preference` from the
 * metadata. Defaults: type `preference` for a preference, else `fact`; the file of that type in the rules of the fast path,
 * or the day's journal; said once; written when it was added.
 *
 * @throws BenchError `bad-data` that names memory and field
 */
export function salienceEntry(memory: StoredMemory, tokenCount: number, addedMs: number): SalienceEntry {
  const read = <Value>(field: string, schema: z.ZodType<Value>): Value => readMetadata(memory, field, schema);
  const memoryType = read('memory_type', text) ?? (memory.metadata['preference'] === true ? 'preference' : 'fact');
  const updatedAtMs = read('updatedAt', metadataTime) ?? read('createdAt', metadataTime) ?? addedMs;
  const journal = journalUri(updatedAtMs);
  const uri = read('uri', text) ?? fastPathRules.find((rule) => rule.memoryType === memoryType)?.uri ?? journal;
  return {
    ...memory,
    uri,
    journal,
    section: read('section', text) ?? '',
    memoryType,
    scope: read('scope', scopes) ?? fastPathRules.find((rule) => rule.uri === uri)?.scope ?? 'global',
    updatedAtMs,
    reinforcement: read('reinforcement', count) ?? 1,
    tokenCount,
  };
}
