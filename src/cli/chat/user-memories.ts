import { AuditLogRepository } from '../../db/audit-log-repository.ts';
import type { BenchDatabase } from '../../db/database.ts';
import { MemoryRepository } from '../../db/memory-repository.ts';
import type { MemoryRow } from '../../db/schema.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { RetrieveOptions } from '../../memory/retriever.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { Recalled } from '../../systems/recall.ts';

const added = 'memory_add';
const removed = 'memory_remove';
const idPattern = /^m(\d+)$/;

/** The session of a user's chats under which memories are stored, or that of one conversation. No two names give one id. */
export function chatSessionId(userId: string, conversation?: string): string {
  const parts = conversation === undefined ? [userId] : [userId, conversation];
  return ['chat', ...parts.map(encodeURIComponent)].join('/');
}

/** What one user has told, kept from chat to chat: in the database, and in what recalls it. */
export class UserMemories {
  readonly userId: string;
  /** Where they are stored, whatever conversation they were told in. */
  readonly sessionId: string;
  readonly #database: BenchDatabase;
  readonly #keeper: MemoryKeeper;
  readonly #rows: MemoryRepository;
  readonly #audit: AuditLogRepository;
  readonly #embedderSha256: string;
  /** The ids of those that can be recalled here. */
  readonly #loaded = new Set<string>();

  /** @param embedderSha256 of what makes the vectors now: those of another embedder mean nothing to it */
  constructor(database: BenchDatabase, keeper: MemoryKeeper, userId: string, embedderSha256: string) {
    this.userId = userId;
    this.sessionId = chatSessionId(userId);
    this.#database = database;
    this.#keeper = keeper;
    this.#rows = new MemoryRepository(database);
    this.#audit = new AuditLogRepository(database);
    this.#embedderSha256 = embedderSha256;
  }

  /** The stored memories, the oldest first. */
  list(): MemorySearchResult[] {
    return this.#rows.getBySession(this.sessionId).map((row) => ({ ...entryOf(row), score: 1 }));
  }

  /** The ids of those that were loaded here and that another chat of the user has forgotten since. */
  gone(): string[] {
    const stored = this.#storedIds();
    return [...this.#loaded].filter((memoryId) => !stored.has(memoryId));
  }

  /**
   * Takes over what other chats of the user have done: what they forgot is recalled no more, what they were told is.
   * @param dropKv deletes all K/V of a memory that is gone, before the memory goes
   */
  async refresh(dropKv: (memoryId: string) => void): Promise<void> {
    for (const memoryId of this.gone()) {
      dropKv(memoryId);
      await this.#keeper.remove(this.sessionId, memoryId, this.userId);
      this.#loaded.delete(memoryId);
    }
    if ([...this.#storedIds()].some((memoryId) => !this.#loaded.has(memoryId))) await this.load();
  }

  /** Recalls for the user; what another chat of the user has forgotten meanwhile is not among it. */
  async recall(query: string, options: RetrieveOptions): Promise<Recalled> {
    const recalled = await this.#keeper.recall(query, options);
    const stored = this.#storedIds();
    return { ...recalled, memories: recalled.memories.filter(({ memoryId }) => stored.has(memoryId)) };
  }

  /** Makes what is stored recallable, with new vectors where another embedder had made them; returns how many. */
  async load(): Promise<number> {
    const stored = this.#rows.getBySession(this.sessionId).map(entryOf);
    const isForeign = stored.some(({ metadata }) => metadata['embedderSha256'] !== this.#embedderSha256);
    if (isForeign) {
      const entries = stored.map((entry) => ({ ...entry, metadata: this.#marked(entry.metadata) }));
      await this.#keeper.addAll(this.sessionId, this.userId, entries);
    } else {
      await this.#keeper.load(this.sessionId);
    }
    for (const { memoryId } of stored) this.#loaded.add(memoryId);
    return stored.length;
  }

  /** Stores a memory and returns its id, one that no memory of the user ever had. */
  async add(content: string): Promise<string> {
    const memoryId = this.#takeId();
    const metadata = this.#marked({ createdAt: new Date().toISOString(), preference: false });
    await this.#keeper.add(this.sessionId, content, { userId: this.userId, memoryId, metadata });
    this.#loaded.add(memoryId);
    return memoryId;
  }

  /** Removes a memory of the user. @param kvEntries how many entries of K/V went before it */
  async remove(memoryId: string, kvEntries: number): Promise<void> {
    await this.#keeper.remove(this.sessionId, memoryId, this.userId);
    this.#loaded.delete(memoryId);
    this.#audit.log({ action: removed, sessionId: this.sessionId, memoryIds: [memoryId], metadata: { kvEntries } });
  }

  #storedIds(): ReadonlySet<string> {
    return new Set(this.#rows.getBySession(this.sessionId).map(({ id }) => id));
  }

  #marked(metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return { ...metadata, embedderSha256: this.#embedderSha256 };
  }

  /** Written to the log at once, so that another chat of the user cannot take the same. */
  #takeId(): string {
    return this.#database.transaction(() => {
      const ids = [
        ...this.#storedIds(),
        ...this.#audit.getBySession(this.sessionId).flatMap(({ memoryIds }) => memoryIds ?? []),
      ];
      const memoryId = `m${1 + Math.max(0, ...ids.map((id) => Number(idPattern.exec(id)?.[1] ?? 0)))}`;
      this.#audit.log({ action: added, sessionId: this.sessionId, memoryIds: [memoryId] });
      return memoryId;
    });
  }
}

function entryOf({ id, content, metadata }: MemoryRow) {
  return { memoryId: id, content, metadata: (metadata ?? {}) as Readonly<Record<string, unknown>> };
}
