import type { DatasetMemory } from '../../data/dataset.ts';

/** A memory of the data as systems and retrievers store it, with the metadata that strategies read. */
export interface MemoryEntry {
  readonly memoryId: string;
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>> & Pick<DatasetMemory, 'createdAt'>;
}

/** Converts a memory of the data; fields for strategies get the names of the source documents. */
export function memoryEntry(memory: DatasetMemory): MemoryEntry {
  const { memoryId, content, createdAt, preference, relation, value, section, memoryType, reinforcement } = memory;
  const metadata = {
    ...{ createdAt, preference },
    ...(value === undefined ? {} : { value }),
    ...(relation === undefined ? {} : { relation }),
    ...(section === undefined ? {} : { section }),
    ...(memoryType === undefined ? {} : { memory_type: memoryType }),
    ...(reinforcement === undefined ? {} : { reinforcement }),
  };
  return { memoryId, content, metadata };
}
