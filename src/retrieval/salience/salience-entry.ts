import { z } from 'zod';
import { metadataTime, readMetadata, type StoredMemory } from '../memory-vector-index.ts';

/** Scope of a memory: the user, or the user's project. */
export type MemoryScope = 'global' | 'project';

/** Files returned whole for questions that match a pattern, and the type of their memories; in order of precedence. */
const fastPathRules = [
  { pattern: /偏好|preference/i, uri: 'user/preferences.md', scope: 'global', memoryType: 'preference' },
  { pattern: /指令|instruction|规则|rule/i, uri: 'user/instructions.md', scope: 'global', memoryType: 'instruction' },
  { pattern: /任务|task/i, uri: 'TASKS.md', scope: 'project', memoryType: 'task' },
  { pattern: /实体|entity|人物|people/i, uri: 'user/entities.md', scope: 'global', memoryType: 'entity' },
  { pattern: /决策|decision/i, uri: 'agent/decisions.md', scope: 'project', memoryType: 'decision' },
  { pattern: /模式|pattern/i, uri: 'agent/patterns.md', scope: 'project', memoryType: 'pattern' },
] as const;

/** Lists the files that a question points to, of one scope or of all, in the order of the rules. */
export function fastPathFiles(query: string, scope?: MemoryScope): string[] {
  return fastPathRules
    .filter((rule) => (scope === undefined || rule.scope === scope) && rule.pattern.test(query))
    .map(({ uri }) => uri);
}

const DAY_MS = 86_400_000;
const JOURNAL_DAYS = 7;

export function asksForTimeline(query: string): boolean {
  return /最近|recent|today|昨天|yesterday|past \d+ days|这几天/i.test(query);
}

/** Names the journal file of an instant: one a day, in UTC. */
function journalUri(instantMs: number): string {
  return `journal/${new Date(instantMs).toISOString().slice(0, 10)}.md`;
}

/** Lists the journal files of the last seven days, newest first. */
export function recentJournal(nowMs: number): string[] {
  return Array.from({ length: JOURNAL_DAYS }, (_, days) => journalUri(nowMs - days * DAY_MS));
}

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
