import { BenchError } from '../base/bench-error.ts';
import { privateTextHash } from '../base/private-text-hash.ts';
import { type EmbeddingService } from '../models/embedding/embedding-service.ts';
import { type MemorySearchResult, type RetrieveOptions, type Retriever } from '../retrieval/retriever.ts';
import { type BenchDatabase } from '../store/database.ts';
import { MemoryRepository } from '../store/memory-repository.ts';
import type { MemoryRow } from '../store/schema.ts';
import { SessionRepository } from '../store/session-and-message-repositories.ts';
import { type AddMemoryOptions, type ChatRequest, type RetrievedMemories, nothingRetrieved } from './memory-system.ts';
import { isPreference } from './prompt/memory-lines.ts';
import { type ArmTraits } from '../store/records/arm-traits.ts';
import { newestFirst } from './memories-for-arm.ts';
import { formatHistorySummary } from '../retrieval/format-history-summary.ts';

export interface MemoryKeeperParts {
  readonly retriever: Retriever;
  readonly embeddings: EmbeddingService;
  readonly database: BenchDatabase;
  readonly runId?: string;
  /** False: stores a hash instead of a memory's text, and neither its vector nor its metadata. Default true. */
  readonly storesTexts?: boolean;
}

export interface MemoryEntry extends Pick<AddMemoryOptions, 'memoryId' | 'metadata'> {
  readonly content: string;
}

/** Keeps memories in the database and in the retriever's index, and retrieves them. Shared by RAG and DKI. */
export class MemoryKeeper {
  readonly #parts: MemoryKeeperParts;
  readonly #memories: MemoryRepository;
  readonly #sessions: SessionRepository;
  /** The memories in the retriever: session id → memory id → user. */
  readonly #indexed = new Map<string, Map<string, string | undefined>>();
  /** Other processes' change counter at opening; while it is unchanged, no other process has removed or replaced a memory. */
  readonly #othersVersion: number;

  constructor(parts: MemoryKeeperParts) {
    this.#parts = parts;
    this.#memories = new MemoryRepository(parts.database, parts.runId);
    this.#sessions = new SessionRepository(parts.database);
    this.#othersVersion = parts.database.othersVersion;
  }

  /** Adds one memory and returns its id. @throws BenchError `bad-data` for a preference without a user */
  async add(sessionId: string, content: string, { userId, ...options }: AddMemoryOptions = {}): Promise<string> {
    const [memoryId] = await this.addAll(sessionId, userId, [{ ...options, content }]);
    return memoryId!;
  }

  /** Adds memories in one batch and returns their ids. @throws BenchError `bad-data` for a preference without a user */
  async addAll(sessionId: string, userId: string | undefined, entries: readonly MemoryEntry[]) {
    const { database, embeddings, retriever, runId } = this.#parts;
    for (const { metadata } of entries) requireUser(userId, metadata);
    const vectors = await embeddings.embedMany(entries.map(({ content }) => content));
    const memories = database.transaction(() => {
      this.#sessions.getOrCreate(sessionId, { userId, runId });
      return entries.map(({ memoryId, content, metadata }, index) => {
        const memory = { content, embedding: vectors[index]!, metadata: dated(metadata ?? {}, Date.now()), userId };
        return { ...memory, memoryId: this.#store({ ...memory, id: memoryId, sessionId }) };
      });
    });
    await retriever.addMemories(memories);
    for (const { memoryId } of memories) this.#indexedIn(sessionId).set(memoryId, userId);
    return memories.map(({ memoryId }) => memoryId);
  }

  /** Makes the index equal to a session's stored memories, using their stored vectors; returns how many there are. */
  async load(sessionId: string): Promise<number> {
    const rows = this.#memories.getBySession(sessionId);
    const indexed = this.#indexedIn(sessionId);
    const stored = new Set(rows.map(({ id }) => id));
    for (const [memoryId, userId] of indexed) {
      if (!stored.has(memoryId)) await this.#unindex(sessionId, memoryId, userId);
    }
    for (const { id, userId } of rows) indexed.set(id, userId ?? undefined);
    await this.#parts.retriever.addMemories(rows.map(indexedMemory));
    return rows.length;
  }

  /** Owner and row of a memory; undefined if another user's. @throws BenchError `bad-option` if `userId` is needed */
  owned(sessionId: string, memoryId: string, userId?: string) {
    const rows = this.#memories.getInSession(sessionId, memoryId);
    const ofUser = userId === undefined ? rows : rows.filter((row) => row.userId === userId);
    const [row, ...others] = ofUser;
    if (others.length > 0) {
      const message = `session "${sessionId}" has two memories "${memoryId}": one with a user and one without`;
      throw new BenchError('bad-option', message, 'name the user');
    }
    if (row !== undefined) return { row, userId: row.userId ?? undefined };
    return rows.length > 0 ? undefined : { row: undefined, userId };
  }

  /** Removes a memory from database and retriever; false if there was none. */
  async remove(sessionId: string, memoryId: string, userId?: string): Promise<boolean> {
    const { row } = this.owned(sessionId, memoryId, userId) ?? {};
    if (row !== undefined) this.#memories.delete(row);
    return (await this.#unindex(sessionId, memoryId, userId)) || row !== undefined;
  }

  /** Which of the given memories another process has removed, and which it has replaced by another text: their ids. */
  changedByOthers(userId: string | undefined, memories: readonly Pick<MemorySearchResult, 'memoryId' | 'content'>[]) {
    if (memories.length === 0 || this.#parts.database.othersVersion === this.#othersVersion) return unchanged;
    const ids = memories.map(({ memoryId }) => memoryId);
    const rows = Map.groupBy(this.#memories.getByIds(userId, ids), ({ id }) => id);
    const removed = ids.filter((id) => !rows.has(id));
    const isReplaced = ({ memoryId, content }: (typeof memories)[number]): boolean =>
      rows.get(memoryId)?.every((row) => row.content !== this.#storedText(content)) === true;
    return { removed, replaced: memories.filter(isReplaced).map(({ memoryId }) => memoryId) };
  }

  /** Retrieves for one query, and times it. */
  async retrieve(query: string, options: RetrieveOptions): Promise<RetrievedMemories> {
    const start = performance.now();
    const { memories, summary, ...record } = await this.#parts.retriever.retrieve(query, options);
    const elapsedMs = performance.now() - start;
    return { memories, elapsedMs, record, ...(summary === undefined ? {} : { summary }) };
  }

  /** Like `retrieve`, but as other processes have left the memories: without removed ones, and with new texts of others. */
  async retrieveStored(query: string, options: RetrieveOptions): Promise<RetrievedMemories> {
    const found = await this.retrieve(query, options);
    const { removed, replaced } = this.changedByOthers(options.userId, found.memories);
    const outdated = [...removed, ...replaced];
    if (outdated.length === 0) return found;
    const rows = this.#parts.storesTexts === false ? [] : this.#memories.getByIds(options.userId, replaced);
    const stored = new Map(rows.map((row) => [row.id, indexedMemory(row)]));
    await this.#parts.retriever.addMemories([...stored.values()]);
    const asStored = (memory: MemorySearchResult): MemorySearchResult[] => {
      if (!outdated.includes(memory.memoryId)) return [memory];
      const { content, metadata } = stored.get(memory.memoryId) ?? {};
      return content === undefined ? [] : [{ ...memory, content, metadata: metadata! }];
    };
    const records = found.summary?.records.flatMap(asStored);
    const summary = records && { text: formatHistorySummary(records), records };
    return { ...found, memories: found.memories.flatMap(asStored), ...(summary && { summary }), outdated };
  }

  /** All memories of a user, or without one, in the database (in a run: of this run), in the order in which they were stored. */
  all(userId: string | undefined): MemorySearchResult[] {
    return this.#memories.getByUser(userId).map(({ id: memoryId, content, metadata, createdAt }) => {
      return { memoryId, content, score: 1, metadata: dated(metadata ?? {}, createdAt) };
    });
  }

  /** The preferences of a user (in a run: of this run), in the order in which they were stored. */
  preferences(userId: string): MemorySearchResult[] {
    return this.#memories.preferences(userId).map(({ id: memoryId, content, metadata }) => {
      return { memoryId, content, score: 1, metadata: { ...(metadata as object | null), preference: true } };
    });
  }

  /** Resets access counts and cached queries of the retriever; the memories stay. */
  reset(): Promise<void> {
    return this.#parts.retriever.reset();
  }

  /** Counts of the retriever and the embedder. */
  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#parts.retriever.stats(), embeddings: this.#parts.embeddings.stats() };
  }

  /** Removes a memory from the index unless its user has it in another session too. False if nothing was removed. */
  async #unindex(sessionId: string, memoryId: string, userId: string | undefined): Promise<boolean> {
    this.#indexed.get(sessionId)?.delete(memoryId);
    const other = this.#memories.getByIds(userId, [memoryId]).at(-1);
    if (other === undefined) return this.#parts.retriever.removeMemory(memoryId, userId);
    // Without a user, it is another memory that has this id.
    if (userId === undefined) await this.#parts.retriever.addMemories([indexedMemory(other)]);
    return false;
  }

  #indexedIn(sessionId: string): Map<string, string | undefined> {
    const indexed = this.#indexed.get(sessionId) ?? new Map<string, string | undefined>();
    this.#indexed.set(sessionId, indexed);
    return indexed;
  }

  #store(memory: Parameters<MemoryRepository['create']>[0] & { readonly metadata: Dated }): string {
    const instant = Date.parse(memory.metadata.createdAt);
    const createdAt = Number.isNaN(instant) ? undefined : instant;
    const content = this.#storedText(memory.content);
    const hidden = this.#parts.storesTexts === false ? { embedding: undefined, metadata: undefined } : {};
    const stored = { ...memory, createdAt, content, ...hidden };
    const id = this.#memories.create(stored);
    const { userId } = stored;
    if (userId !== undefined && isPreference(memory)) this.#memories.prefer({ ...stored, id, userId });
    return id;
  }

  #storedText(content: string): string {
    return this.#parts.storesTexts === false ? privateTextHash(content) : content;
  }
}

const unchanged = { removed: [] as readonly string[], replaced: [] as readonly string[] };

/** A stored memory as the retriever indexes it. */
function indexedMemory({ id: memoryId, content, embedding, metadata, createdAt, userId }: MemoryRow) {
  const common = { memoryId, content, metadata: dated(metadata ?? {}, createdAt) };
  return { ...common, embedding: embedding ?? undefined, userId: userId ?? undefined };
}

type Dated = Readonly<Record<string, unknown>> & { readonly createdAt: string };

/** Metadata with a creation time: its own, or else `createdAtMs` (milliseconds since 1970). */
function dated(metadata: object, createdAtMs: number): Dated {
  const { createdAt } = metadata as { readonly createdAt?: unknown };
  return { ...metadata, createdAt: typeof createdAt === 'string' ? createdAt : new Date(createdAtMs).toISOString() };
}

/** @throws BenchError `bad-data` for a preference without a user */
function requireUser(userId: string | undefined, metadata: AddMemoryOptions['metadata']): void {
  if (userId !== undefined || !isPreference({ metadata })) return;
  const message = 'a memory with metadata.preference has no userId';
  throw new BenchError('bad-data', message, 'give the userId, or leave preference out');
}

/** How a system retrieves memories. */
export interface RetrievalSettings {
  readonly memories: MemoryKeeper;
  readonly retrieves: ArmTraits['retrieves'];
  readonly topK: number;
  readonly threshold: number;
  /** Puts all preferences of the user before the retrieved memories. Default false. */
  readonly preferencesOnly?: boolean;
}

/** The memories of the request, or else retrieved ones. @throws BenchError `bad-option` if only a data set names them */
export async function retrieveForTurn(
  request: ChatRequest,
  settings: RetrievalSettings,
  history: NonNullable<ChatRequest['history']>,
): Promise<RetrievedMemories> {
  const { userId, preferences } = request;
  const retrieved = request.retrieved ?? (await retrieveOwn(request, settings, history));
  if (settings.preferencesOnly !== true) return retrieved;
  const start = performance.now();
  const others = retrieved.memories.filter((memory) => !isPreference(memory));
  const memories = [...(preferences ?? settings.memories.preferences(userId ?? '')), ...others];
  return { memories, elapsedMs: retrieved.elapsedMs + performance.now() - start, record: retrieved.record };
}

async function retrieveOwn(
  { query, userId, topK }: ChatRequest,
  settings: RetrievalSettings,
  history: NonNullable<ChatRequest['history']>,
): Promise<RetrievedMemories> {
  const { memories, retrieves, threshold } = settings;
  switch (retrieves) {
    case 'nothing':
      return nothingRetrieved;
    case 'retrieved': {
      const user = userId === undefined ? {} : { userId };
      return memories.retrieveStored(query, { topK: topK ?? settings.topK, threshold, ...user, history });
    }
    case 'all':
      return newestFirst(() => memories.all(userId));
    default:
      throw new BenchError(
        'bad-option',
        `an arm that is given ${retrieves === 'evidence' ? 'the evidence' : "another user's memories"} cannot retrieve them itself`,
        'give them with the request, or choose another arm, such as rag',
      );
  }
}
