import { eq } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { influences } from './schema.ts';

/** The answer's log-probability without one memory, in nats, summed over the answer's tokens. */
export interface MemoryInfluence {
  readonly memoryId: string;
  readonly logProbability: number;
}

/** What each memory of a turn did to its answer, found by leaving it out. */
export interface Influence {
  /** Whether a memory was left out as text of the prompt, or as a block of K/V. */
  readonly method: 'text' | 'blocks';
  /** Sum of ln p over the tokens of the answer, with all memories. */
  readonly logProbability: number;
  /** The same without each, in the order of the sequence. */
  readonly memories: readonly MemoryInfluence[];
  /** Time inside the language model. */
  readonly modelMs: number;
}

/** The influences of memories, one row a turn. */
export class InfluenceRepository {
  readonly #database: BenchDatabase;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  /** Stores the influence of each memory of a turn in place of what was stored before. */
  put(turnId: number, { method, logProbability, memories, modelMs }: Influence): void {
    const row = { method, logProbability, memories, modelMs, createdAt: Date.now() };
    this.#database.transaction(() => {
      this.#database.query
        .insert(influences)
        .values({ turnId, ...row })
        .onConflictDoUpdate({ target: influences.turnId, set: row })
        .run();
    });
  }

  /** What was computed for a turn, or undefined. */
  find(turnId: number): Influence | undefined {
    return this.#database.guard(() => {
      const row = this.#database.query.select().from(influences).where(eq(influences.turnId, turnId)).get();
      if (row === undefined) return undefined;
      const { method, logProbability, memories, modelMs } = row;
      return { method, logProbability, memories: memories as readonly MemoryInfluence[], modelMs };
    });
  }
}
