import { AuditLogRepository } from '../../store/session-and-message-repositories.ts';
import type { MemoryRow } from '../../store/schema.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { MemoryRepository } from '../../store/memory-repository.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';

/** Id of the session that stores the memories of a user, or the messages of a conversation. Different names give different ids. */
export function chatSessionId(userId: string, conversation?: string): string {
  const parts = conversation === undefined ? [userId] : [userId, conversation];
  return ['chat', ...parts.map(encodeURIComponent)].join('/');
}

/** The memories of one user: stored in the database for all chats, and loaded into the retriever of this chat. */
export class UserMemories {
  readonly #userId: string;
  readonly #sessionId: string;
  readonly #database: BenchDatabase;
  readonly #keeper: MemoryKeeper;
  readonly #rows: MemoryRepository;
  readonly #audit: AuditLogRepository;
  readonly #embedderSha256: string;
  /** Ids of the memories in the retriever of this chat. */
  #loaded = new Set<string>();

  /** @param embedderSha256 hash of this chat's embedder; vectors of other embedders are computed again */
  constructor(database: BenchDatabase, keeper: MemoryKeeper, userId: string, embedderSha256: string) {
    this.#userId = userId;
    this.#sessionId = chatSessionId(userId);
    this.#database = database;
    this.#keeper = keeper;
    this.#rows = new MemoryRepository(database);
    this.#audit = new AuditLogRepository(database);
    this.#embedderSha256 = embedderSha256;
  }

  list(): MemorySearchResult[] {
    return this.#rows.getBySession(this.#sessionId).map((row) => ({ ...entryOf(row), score: 1 }));
  }

  /** Applies what other chats of the user added or forgot. @param dropKv called before a forgotten memory is removed */
  async refresh(dropKv: (memoryId: string) => Promise<unknown>): Promise<void> {
    const stored = this.#storedIds();
    const forgotten = [...this.#loaded].filter((memoryId) => !stored.has(memoryId));
    for (const memoryId of forgotten) await dropKv(memoryId);
    if (forgotten.length > 0 || stored.size > this.#loaded.size) await this.load();
  }

  /** Loads all stored memories into the retriever, with new vectors if another embedder made them. */
  async load(): Promise<void> {
    const stored = this.#rows.getBySession(this.#sessionId).map(entryOf);
    if (stored.some(({ metadata }) => metadata['embedderSha256'] !== this.#embedderSha256)) {
      const entries = stored.map((entry) => ({ ...entry, metadata: this.#marked(entry.metadata) }));
      await this.#keeper.addAll(this.#sessionId, this.#userId, entries);
    }
    await this.#keeper.load(this.#sessionId);
    this.#loaded = new Set(stored.map(({ memoryId }) => memoryId));
  }

  /** Stores a memory and returns its id, which no memory of the user ever had. */
  async add(content: string, { preference = false }: { readonly preference?: boolean } = {}): Promise<string> {
    const memoryId = this.#takeId();
    const metadata = this.#marked({ createdAt: new Date().toISOString(), preference });
    await this.#keeper.add(this.#sessionId, content, { userId: this.#userId, memoryId, metadata });
    this.#loaded.add(memoryId);
    return memoryId;
  }

  /** Removes a memory of the user. @param kvEntries number of entries of KV that were deleted before */
  async remove(memoryId: string, kvEntries: number): Promise<void> {
    await this.#keeper.remove(this.#sessionId, memoryId, this.#userId);
    this.#loaded.delete(memoryId);
    const about = { sessionId: this.#sessionId, memoryIds: [memoryId], metadata: { kvEntries } };
    this.#audit.log({ action: 'memory_remove', ...about });
    // The write-ahead log still has the text.
    this.#database.emptyLog();
  }

  #storedIds(): ReadonlySet<string> {
    return new Set(this.#rows.getBySession(this.#sessionId).map(({ id }) => id));
  }

  #marked(metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return { ...metadata, embedderSha256: this.#embedderSha256 };
  }

  /** Takes the next id and logs it at once, so that no other chat of the user takes it too. */
  #takeId(): string {
    return this.#database.transaction(() => {
      const ids = [
        ...this.#storedIds(),
        ...this.#audit.getBySession(this.#sessionId).flatMap(({ memoryIds }) => memoryIds ?? []),
      ];
      const memoryId = `m${1 + Math.max(0, ...ids.map((id) => Number(/^m(\d+)$/.exec(id)?.[1] ?? 0)))}`;
      this.#audit.log({ action: 'memory_add', sessionId: this.#sessionId, memoryIds: [memoryId] });
      return memoryId;
    });
  }
}

function entryOf({ id, content, metadata }: MemoryRow) {
  return { memoryId: id, content, metadata: (metadata ?? {}) as Readonly<Record<string, unknown>> };
}
