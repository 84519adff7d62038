import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { and, asc, countDistinct, eq, isNotNull, sql } from 'drizzle-orm';
import { drizzle, type BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { float32, json } from '../../store/columns.ts';
import { databaseError } from '../../store/database-error.ts';
import { MemoryNamespace, type StoredMemory } from '../memory-namespace.ts';
import type { VectorBackend } from '../vectors/vector-index.ts';
import { isZero, type ColdHit, type ColdMemory, type ColdStore } from './cold-store.ts';
import { otherDimension } from './store-error.ts';

const chunks = sqliteTable(
  'chunks',
  {
    groupId: text('group_id').notNull(),
    memoryId: text('memory_id').notNull(),
    chunk: integer('chunk').notNull(),
    content: text('content').notNull(),
    /** Null for a zero vector. */
    embedding: float32('embedding'),
    metadata: json('metadata'),
    createdAtMs: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.groupId, table.memoryId, table.chunk] })],
);

const SCHEMA = `CREATE TABLE IF NOT EXISTS chunks (
  group_id TEXT NOT NULL, memory_id TEXT NOT NULL, chunk INTEGER NOT NULL, content TEXT NOT NULL, embedding BLOB,
  metadata TEXT, created_at INTEGER NOT NULL, PRIMARY KEY (group_id, memory_id, chunk))`;

/**
 * Long-term memory in a SQLite file, searched by a flat index in memory, one a group, built from the file at the first
 * search. A file belongs to one process at a time.
 */
export class SqliteColdStore implements ColdStore {
  readonly name: string;
  readonly version: string;
  readonly #path: string;
  readonly #client: Sqlite.Database;
  readonly #query: BetterSQLite3Database;
  readonly #dimension: number;
  readonly #backend: VectorBackend;
  /** Vectors of the groups that were searched; texts stay in the file. */
  readonly #indexes = new Map<string, MemoryNamespace>();
  readonly #statements;

  /**
   * Opens the file.
   * @param path created with its folder if it does not exist
   * @throws BenchError `database` if the file cannot be opened, or has vectors of another dimension
   */
  constructor(path: string, dimension: number, backend: VectorBackend) {
    this.#path = path;
    this.#dimension = dimension;
    this.#backend = backend;
    this.name = `sqlite+${backend.name}`;
    this.version = backend.version;
    mkdirSync(dirname(path), { recursive: true });
    try {
      this.#client = new Sqlite(path);
      this.#client.pragma('journal_mode = WAL');
      this.#client.pragma('synchronous = NORMAL');
      checkDimension(this.#client, path, dimension);
      this.#client.exec(SCHEMA);
      // The file is private: it holds users' texts. SQLite gives its journals the same mode.
      chmodSync(path, 0o600);
    } catch (error) {
      throw databaseError(path, error);
    }
    this.#query = drizzle(this.#client);
    this.#statements = this.#prepare();
  }

  replace(group: string, memories: readonly ColdMemory[]): Promise<void> {
    const { insert, remove } = this.#statements;
    return this.#guard(() => {
      const removed = new Map<string, number>();
      const write = this.#client.transaction(() => {
        for (const { memoryId, metadata, createdAtMs, chunks: parts } of memories) {
          removed.set(memoryId, remove.run({ group, memoryId }).changes);
          for (const [chunk, { content, embedding }] of parts.entries()) {
            const vector = isZero(embedding) ? null : embedding;
            insert.run({ group, memoryId, chunk, content, embedding: vector, metadata, createdAtMs });
          }
        }
      });
      write.immediate();
      const index = this.#indexes.get(group);
      if (index === undefined) return;
      for (const [memoryId, count] of removed) removeChunks(index, memoryId, count);
      index.add(
        memories.flatMap(({ memoryId, chunks: parts }) =>
          parts.flatMap(({ embedding }, chunk) => (isZero(embedding) ? [] : indexed(memoryId, chunk, embedding))),
        ),
      );
    });
  }

  search(group: string, vector: Float32Array, count: number, without: readonly string[]): Promise<ColdHit[]> {
    return this.#guard(() => {
      const index = this.#index(group);
      if (count === 0 || index.size === 0 || isZero(vector)) return [];
      const passedOver = new Set(without);
      let asked = count + passedOver.size;
      let found = index.search(vector, asked);
      // An excluded memory may have many chunks.
      const counted = () => found.filter(({ memory }) => !passedOver.has(memoryOf(memory.memoryId).memoryId));
      while (counted().length < count && asked < index.size) {
        asked *= 2;
        found = index.search(vector, asked);
      }
      return counted()
        .slice(0, count)
        .map(({ memory, score }) => {
          const { memoryId, chunk } = memoryOf(memory.memoryId);
          const row = this.#statements.read.get({ group, memoryId, chunk })!;
          const { content, metadata, createdAtMs } = row;
          return { memoryId, chunk, content, metadata: metadata as ColdHit['metadata'], createdAtMs, score };
        });
    });
  }

  remove(group: string, memoryId: string): Promise<boolean> {
    return this.#guard(() => {
      const removed = this.#statements.remove.run({ group, memoryId }).changes;
      const index = this.#indexes.get(group);
      if (index !== undefined) removeChunks(index, memoryId, removed);
      return removed > 0;
    });
  }

  count(group: string): Promise<number> {
    return this.#guard(() => this.#statements.count.get({ group })!.memories);
  }

  /** Closes the file and deletes it. */
  async drop(): Promise<void> {
    await this.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(this.#path + suffix, { force: true });
  }

  /** Closes the file, which stays. */
  async close(): Promise<void> {
    this.#indexes.clear();
    this.#client.close();
  }

  #index(group: string): MemoryNamespace {
    let index = this.#indexes.get(group);
    if (index === undefined) {
      index = new MemoryNamespace(this.#backend, this.#dimension);
      const rows = this.#statements.vectors.all({ group });
      index.add(rows.map(({ memoryId, chunk, embedding }) => indexed(memoryId, chunk, embedding!)));
      this.#indexes.set(group, index);
    }
    return index;
  }

  #prepare() {
    const ofGroup = eq(chunks.groupId, sql.placeholder('group'));
    const ofMemory = and(ofGroup, eq(chunks.memoryId, sql.placeholder('memoryId')));
    const { memoryId, chunk, content, embedding, metadata, createdAtMs } = chunks;
    return {
      insert: this.#query
        .insert(chunks)
        .values({
          groupId: sql.placeholder('group'),
          memoryId: sql.placeholder('memoryId'),
          chunk: sql.placeholder('chunk'),
          content: sql.placeholder('content'),
          embedding: sql.placeholder('embedding'),
          metadata: sql.placeholder('metadata'),
          createdAtMs: sql.placeholder('createdAtMs'),
        })
        .prepare(),
      remove: this.#query.delete(chunks).where(ofMemory).prepare(),
      read: this.#query
        .select({ content, metadata, createdAtMs })
        .from(chunks)
        .where(and(ofMemory, eq(chunk, sql.placeholder('chunk'))))
        .prepare(),
      vectors: this.#query
        .select({ memoryId, chunk, embedding })
        .from(chunks)
        .where(and(ofGroup, isNotNull(embedding)))
        .orderBy(asc(sql`rowid`))
        .prepare(),
      count: this.#query
        .select({ memories: countDistinct(memoryId) })
        .from(chunks)
        .where(ofGroup)
        .prepare(),
    };
  }

  async #guard<Result>(work: () => Result): Promise<Result> {
    try {
      return work();
    } catch (error) {
      throw databaseError(this.#path, error);
    }
  }
}

/** Checks the dimension, which is stored as the version of the file; a new file has none. */
function checkDimension(client: Sqlite.Database, path: string, dimension: number): void {
  const held = client.pragma('user_version', { simple: true }) as number;
  if (held !== 0 && held !== dimension) throw otherDimension(path, held, dimension);
  client.pragma(`user_version = ${dimension}`);
}

function chunkKey(memoryId: string, chunk: number): string {
  return `${chunk}:${memoryId}`;
}

/** Converts a chunk for the index. */
function indexed(memoryId: string, chunk: number, embedding: Float32Array): StoredMemory {
  return { memoryId: chunkKey(memoryId, chunk), content: '', embedding, metadata: {} };
}

function memoryOf(key: string): { readonly memoryId: string; readonly chunk: number } {
  const colon = key.indexOf(':');
  return { chunk: Number(key.slice(0, colon)), memoryId: key.slice(colon + 1) };
}

/** Removes the chunks of a memory. @param count number of its chunks; zero vectors are not in the index */
function removeChunks(index: MemoryNamespace, memoryId: string, count: number): void {
  for (let chunk = 0; chunk < count; chunk++) index.remove(chunkKey(memoryId, chunk));
}
