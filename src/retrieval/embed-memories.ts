import { BenchError } from '../base/bench-error.ts';
import type { EmbeddingService } from '../models/embedding/embedding-service.ts';
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
    const embedding = unitVector(memoryId, memory.embedding ?? vectors.get(memory)!, dimension);
    return { memoryId, userId, content, embedding, metadata: { ...metadata, ...(userId !== undefined && { userId }) } };
  });
}

function unitVector(memoryId: string, vector: Float32Array, dimension: number): Float32Array {
  const length = Math.hypot(...vector);
  if (vector.length !== dimension || !Number.isFinite(length)) {
    throw new BenchError(
      'bad-data',
      `memory '${memoryId}' has a vector of ${vector.length} numbers${Number.isFinite(length) ? '' : ', not all finite'}; the embedder gives ${dimension}`,
      'embed it again with the embedder of this run',
    );
  }
  // A zero vector (a text without content) stays zero: it is similar to nothing.
  return vector.map((value) => (length === 0 ? 0 : value / length));
}
