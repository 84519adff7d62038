import { BenchError } from '../../base/bench-error.ts';
import type { StoredMemory } from '../memory-namespace.ts';
import { fastPathRules, journalUri, type MemoryScope } from './file-paths.ts';

/** A memory with the fields of its metadata that salience needs. */
export interface SalienceEntry {
  readonly memory: StoredMemory;
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

const scopes: readonly MemoryScope[] = ['global', 'project'];

/**
 * Reads `uri`, `section`, `memory_type`, `scope`, `updatedAt` (else `createdAt`), `reinforcement` and `preference` from the
 * metadata. Defaults: type `preference` for a preference, else `fact`; the file of that type in the rules of the fast path,
 * or the day's journal; said once; written when it was added.
 *
 * @throws BenchError `bad-data` that names memory and field
 */
export function salienceEntry(memory: StoredMemory, tokenCount: number, addedMs: number): SalienceEntry {
  const { metadata } = memory;
  const memoryType = text(memory, 'memory_type') ?? (metadata['preference'] === true ? 'preference' : 'fact');
  const updatedAtMs = instant(memory, 'updatedAt') ?? instant(memory, 'createdAt') ?? addedMs;
  const journal = journalUri(updatedAtMs);
  const uri = text(memory, 'uri') ?? fastPathRules.find((rule) => rule.memoryType === memoryType)?.uri ?? journal;
  return {
    memory,
    uri,
    journal,
    section: text(memory, 'section') ?? '',
    memoryType,
    scope: scopeOf(memory) ?? fastPathRules.find((rule) => rule.uri === uri)?.scope ?? 'global',
    updatedAtMs,
    reinforcement: reinforcementOf(memory),
    tokenCount,
  };
}

function text(memory: StoredMemory, field: string): string | undefined {
  const value = memory.metadata[field];
  if (value === undefined || typeof value === 'string') return value;
  throw badField(memory, field, 'a text');
}

function instant(memory: StoredMemory, field: string): number | undefined {
  const value = text(memory, field);
  if (value === undefined) return undefined;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) throw badField(memory, field, 'a time such as 2026-03-01T09:00:00Z');
  return ms;
}

function reinforcementOf(memory: StoredMemory): number {
  const value = memory.metadata['reinforcement'] ?? 1;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw badField(memory, 'reinforcement', 'a number from 0');
}

function scopeOf(memory: StoredMemory): MemoryScope | undefined {
  const value = text(memory, 'scope');
  const scope = scopes.find((known) => known === value);
  if (value === undefined || scope !== undefined) return scope;
  throw badField(memory, 'scope', scopes.join(' or '));
}

function badField(memory: StoredMemory, field: string, expected: string): BenchError {
  const got = JSON.stringify(memory.metadata[field]);
  return new BenchError(
    'bad-data',
    `memory '${memory.memoryId}': ${field} expected ${expected}, got ${got}`,
    'correct its metadata, or leave the field out',
  );
}
