import { BenchError } from '../base/bench-error.ts';
import { textHash } from '../base/text-hash.ts';
import type { BenchDatabase } from '../store/database.ts';
import { MemoryRepository, type NewMemory } from '../store/memory-repository.ts';
import { SessionRepository } from '../store/session-repository.ts';
import type { EmbeddingService } from '../models/embedding/embedding-service.ts';
import type { MemorySearchResult, RetrieveOptions, Retriever } from '../retrieval/retriever.ts';
import { type AddMemoryOptions, type RetrievedMemories, timedRetrieval } from './contracts.ts';
import { isPreference } from './prompt/placement.ts';

/** Metadata of a memory that has a creation time. */
type Dated = Readonly<Record<string, unknown>> & { readonly createdAt: string };

/** Metadata with the creation time that they name; with the given one, in milliseconds since 1970, where they name none. */
function dated(metadata: object, createdAtMs: number): Dated {
  const { createdAt } = metadata as { readonly createdAt?: unknown };
  return { ...metadata, createdAt: typeof createdAt === 'string' ? createdAt : new Date(createdAtMs).toISOString() };
}

/** Keeps memories in the database and in a retriever, and which of them are preferences; shared by RAG and DKI. */
export class MemoryKeeper {
  readonly #retriever: Retriever;
  readonly #embeddings: EmbeddingService;
  readonly #database: BenchDatabase;
  readonly #memories: MemoryRepository;
  readonly #sessions: SessionRepository;
  readonly #runId: string | undefined;
  readonly #storesTexts: boolean;

  /**
   * @param runId the run that its sessions belong to, where there is one
   * @param options `storesTexts: false`: the database has a hash in place of a memory, and neither its vector nor its metadata
   */
  constructor(
    retriever: Retriever,
    embeddings: EmbeddingService,
    database: BenchDatabase,
    runId?: string,
    { storesTexts = true }: { readonly storesTexts?: boolean } = {},
  ) {
    this.#retriever = retriever;
    this.#embeddings = embeddings;
    this.#database = database;
    this.#memories = new MemoryRepository(database, runId);
    this.#sessions = new SessionRepository(database);
    this.#runId = runId;
    this.#storesTexts = storesTexts;
  }

  /**
   * Embeds, stores, then indexes; an id that exists is replaced.
   * @throws BenchError `bad-data` for a preference of nobody
   */
  async add(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    const { userId } = options;
    const metadata = dated(options.metadata ?? {}, Date.now());
    requireUser(userId, metadata);
    const embedding = await this.#embeddings.embed(content);
    const memoryId = this.#database.transaction(() => {
      this.#openSession(sessionId, userId);
      return this.#store({
        id: options.memoryId,
        sessionId,
        userId,
        content,
        embedding,
        metadata,
      });
    });
    await this.#retriever.addMemories([{ memoryId, content, embedding, metadata, userId }]);
    return memoryId;
  }

  /** Adds many of one user with one batch embedding; ids that exist are replaced. */
  async addAll(
    sessionId: string,
    userId: string,
    entries: readonly {
      readonly memoryId: string;
      readonly content: string;
      readonly metadata: Readonly<Record<string, unknown>>;
    }[],
  ): Promise<void> {
    const embeddings = await this.#embeddings.embedMany(entries.map((entry) => entry.content));
    const memories = entries.map((entry, index) => ({
      ...entry,
      metadata: dated(entry.metadata, Date.now()),
      userId,
      embedding: embeddings[index]!,
    }));
    this.#database.transaction(() => {
      this.#openSession(sessionId, userId);
      for (const { memoryId, ...memory } of memories) {
        this.#store({ ...memory, id: memoryId, sessionId });
      }
    });
    await this.#retriever.addMemories(memories);
  }

  /** Puts the stored memories of a session into the index, their stored vectors too; returns how many. */
  async load(sessionId: string): Promise<number> {
    const rows = this.#memories.getBySession(sessionId);
    await this.#retriever.addMemories(
      rows.map((row) => ({
        memoryId: row.id,
        content: row.content,
        embedding: row.embedding ?? undefined,
        metadata: dated(row.metadata ?? {}, row.createdAt),
        userId: row.userId ?? undefined,
      })),
    );
    return rows.length;
  }

  /** Removes a memory from database and retriever; false where there was none. */
  async remove(sessionId: string, memoryId: string, userId?: string): Promise<boolean> {
    const stored = this.#memories.delete(sessionId, memoryId);
    return (await this.#retriever.removeMemory(memoryId, userId)) || stored;
  }

  /** Retrieves for one query, and times it. */
  retrieve(query: string, options: RetrieveOptions): Promise<RetrievedMemories> {
    return timedRetrieval(() => this.#retriever.retrieve(query, options));
  }

  /** As `retrieve`, the memories alone. */
  async search(query: string, { topK, threshold, userId }: RetrieveOptions): Promise<readonly MemorySearchResult[]> {
    return (await this.retrieve(query, { topK, threshold, userId })).memories;
  }

  /** All memories of a user in the database, in the order in which they were stored; in a run, those of the run. */
  all(userId: string): MemorySearchResult[] {
    return this.#memories.getByUser(userId).map(({ id, content, metadata, createdAt }) => ({
      memoryId: id,
      content,
      score: 1,
      metadata: dated(metadata ?? {}, createdAt),
    }));
  }

  /** The preferences of a user, in the order in which they were stored; in a run, those of the run. */
  preferences(userId: string): MemorySearchResult[] {
    return this.#memories.preferences(userId).map(({ id, content, metadata }) => ({
      memoryId: id,
      content,
      score: 1,
      metadata: { ...(metadata as Readonly<Record<string, unknown>> | null), preference: true },
    }));
  }

  /** Resets access counts and cached queries of the retriever; the memories stay. */
  reset(): Promise<void> {
    return this.#retriever.reset();
  }

  /** Counts of the retriever and the embedder. */
  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#retriever.stats(), embeddings: this.#embeddings.stats() };
  }

  #store(memory: NewMemory & { readonly metadata: Dated }): string {
    const instant = Date.parse(memory.metadata.createdAt);
    const createdAt = Number.isNaN(instant) ? undefined : instant;
    const kept = this.#storesTexts
      ? { ...memory, createdAt }
      : { ...memory, createdAt, content: textHash(memory.content), embedding: undefined, metadata: undefined };
    const id = this.#memories.create(kept);
    const { userId } = kept;
    if (userId !== undefined && isPreference(memory)) this.#memories.prefer({ ...kept, id, userId });
    return id;
  }

  #openSession(sessionId: string, userId: string | undefined): void {
    this.#sessions.getOrCreate(sessionId, {
      ...(userId === undefined ? {} : { userId }),
      ...(this.#runId === undefined ? {} : { runId: this.#runId }),
    });
  }
}

/** @throws BenchError `bad-data` */
function requireUser(userId: string | undefined, metadata: Readonly<Record<string, unknown>>): void {
  if (userId !== undefined || !isPreference({ metadata })) return;
  throw new BenchError(
    'bad-data',
    'a memory with metadata.preference has no userId: nobody prefers it',
    'give the userId, or leave preference out',
  );
}
