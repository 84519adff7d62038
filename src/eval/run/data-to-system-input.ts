import { type DatasetItem, type DatasetMemory, type DatasetUser, resolveUserLanguage } from '../../data/dataset.ts';
import type { ChatRequest } from '../../systems/memory-system.ts';

export interface MemoryEntry {
  readonly memoryId: string;
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>> & Pick<DatasetMemory, 'createdAt'>;
}

/** Metadata have the names that retrievers read, such as `memory_type`. */
export function memoryEntry(memory: DatasetMemory): MemoryEntry {
  const { memoryId, content, createdAt, preference, memoryType: memory_type } = memory;
  const { relation, value, updatedAt, uri, scope, section, reinforcement, links, confidence } = memory;
  const optional = { value, relation, updatedAt, uri, scope, section, memory_type, reinforcement, links, confidence };
  const given = Object.fromEntries(Object.entries(optional).filter(([, field]) => field !== undefined));
  return { memoryId, content, metadata: { createdAt, preference, ...given } };
}

/** The part of a chat request that is the same for all arms: question, language and prompt texts of an item. */
export function itemQuestion(
  { query, language, systemPrompt, answerPrefix }: DatasetItem,
  { languageProfile }: Pick<DatasetUser, 'languageProfile'>,
): Pick<ChatRequest, 'query' | 'language' | 'systemPrompt' | 'answerPrefix'> {
  return {
    query,
    language: resolveUserLanguage(language, languageProfile).language,
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(answerPrefix === undefined ? {} : { answerPrefix }),
  };
}
