import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import type { StoredMemory } from './memory-vector-index.ts';
import { type EmbeddingService, unitVector } from '../models/embedding/embedding-service.ts';
import type { NewMemory } from './retriever.ts';

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

/**
 * Normalises the vectors of memories, and embeds memories without a vector in one call. The order is kept.
 * @throws BenchError `bad-data` if a vector has another dimension or numbers that are not finite
 */
export async function embedMemories(embeddings: EmbeddingService, memories: readonly NewMemory[]) {
  const dimension = await embeddings.dimension();
  const bare = memories.filter(({ embedding }) => embedding === undefined);
  const embedded = await embeddings.embedMany(bare.map(({ content }) => content));
  const vectors = new Map(bare.map((memory, i) => [memory, embedded[i]!]));
  return memories.map((memory) => {
    const { memoryId, userId, content, metadata } = memory;
    const refusal = (fault: string): BenchError => {
      const hint = 'embed it again with the embedder of this run';
      return new BenchError('bad-data', `memory '${memoryId}' has a vector of ${fault}`, hint);
    };
    const embedding = unitVector(memory.embedding ?? vectors.get(memory)!, dimension, refusal);
    return { memoryId, userId, content, embedding, metadata: { ...metadata, ...(userId !== undefined && { userId }) } };
  });
}
