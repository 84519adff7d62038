import { BenchError } from '../base/bench-error.ts';
import { type EmbeddingService, unitVector } from '../models/embedding/embedding-service.ts';
import type { NewMemory } from './retriever.ts';

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
