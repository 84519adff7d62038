import { BenchError } from '../base/bench-error.ts';
import type { EmbeddingService } from '../models/embedding/embedding-service.ts';
import type { StoredMemory } from './memory-namespace.ts';
import type { NewMemory } from './new-memory.ts';

/** A memory with its unit vector and its user. */
export interface OwnedMemory {
  readonly userId: string | undefined;
  readonly memory: StoredMemory;
}

/**
 * Gives memories unit vectors, in order; those without a vector are embedded in one call. All or none.
 * @throws BenchError `bad-data` if a vector has another dimension or numbers that are not finite
 */
export async function embedMemories(
  embeddings: EmbeddingService,
  memories: readonly NewMemory[],
): Promise<OwnedMemory[]> {
  const dimension = await embeddings.dimension();
  const bare = memories.filter(({ embedding }) => embedding === undefined);
  const made = await embeddings.embedMany(bare.map(({ content }) => content));
  const vectors = new Map(bare.map((memory, i) => [memory, made[i]!]));
  return memories.map((memory) => ({
    userId: memory.userId,
    memory: storedMemory(memory, memory.embedding ?? vectors.get(memory)!, dimension),
  }));
}

function storedMemory(memory: NewMemory, vector: Float32Array, dimension: number): StoredMemory {
  const { memoryId, content, metadata, userId } = memory;
  const length = Math.hypot(...vector);
  if (vector.length !== dimension || !Number.isFinite(length)) {
    throw new BenchError(
      'bad-data',
      `memory '${memoryId}' has a vector of ${vector.length} numbers${Number.isFinite(length) ? '' : ', not all finite'}; the embedder gives ${dimension}`,
      'embed it again with the embedder of this run',
    );
  }
  return {
    memoryId,
    content,
    // A zero vector (a text without content) stays zero: it is similar to nothing.
    embedding: vector.map((value) => (length === 0 ? 0 : value / length)),
    metadata: userId === undefined ? { ...metadata } : { ...metadata, userId },
  };
}
