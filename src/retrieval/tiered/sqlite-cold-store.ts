import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { databaseError } from '../../store/database-error.ts';
import { MemoryVectorIndex, type StoredMemory } from '../memory-vector-index.ts';
import type { VectorBackend } from '../vectors/vector-backends.ts';
import { isZero, type ColdHit, type ColdMemory, type ColdStore } from './cold-store.ts';
import { dimensionMismatch } from './store-error.ts';

/** A zero vector is stored as null; others as float32 in the machine's byte order. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS chunks (
  group_id TEXT NOT NULL, memory_id TEXT NOT NULL, chunk INTEGER NOT NULL, content TEXT NOT NULL, embedding BLOB,
  metadata TEXT, created_at INTEGER NOT NULL, PRIMARY KEY (group_id, memory_id, chunk))`;

type ChunkRow = Omit<ColdHit, 'metadata' | 'score'> & { rowid: number; metadata: string; embedding: Buffer };

/** A chunk in the index, identified by its row id. */
interface IndexedChunk extends StoredMemory {
  readonly hit: Omit<ColdHit, 'score'>;
}

/**
 * Long-term memory in a SQLite file. Each group is searched with a flat index in memory, rebuilt from the file at the first
 * search after a write. Only one process may use a file at a time.
 */
export class SqliteColdStore implements ColdStore {
  readonly name: string;
  readonly version: string;
  readonly #path: string;
  readonly #client: Sqlite.Database;
  readonly #dimension: number;
  readonly #backend: VectorBackend;
  /** By group. */
  readonly #indexes = new Map<string, MemoryVectorIndex<IndexedChunk>>();

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
      // Private, since it holds users' texts; journals that SQLite creates from now on get the same mode.
      chmodSync(path, 0o600);
      this.#client.pragma('journal_mode = WAL');
      this.#client.pragma('synchronous = NORMAL');
      // `user_version` stores the dimension; it is 0 in a new file.
      const stored = this.#client.pragma('user_version', { simple: true }) as number;
      if (stored !== 0 && stored !== dimension) throw dimensionMismatch(path, stored, dimension);
      this.#client.pragma(`user_version = ${dimension}`);
      this.#client.exec(SCHEMA);
    } catch (error) {
      throw databaseError(path, error);
    }
  }

  replace(group: string, memories: readonly ColdMemory[]): Promise<void> {
    return this.#guard(() => {
      const insert = this.#client.prepare('INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)');
      const write = this.#client.transaction(() => {
        for (const { memoryId, metadata, createdAtMs, chunks } of memories) {
          this.#delete(group, memoryId);
          for (const [chunk, { content, embedding }] of chunks.entries()) {
            const { buffer, byteOffset, byteLength } = embedding;
            const blob = isZero(embedding) ? null : Buffer.from(buffer, byteOffset, byteLength);
            insert.run(group, memoryId, chunk, content, blob, JSON.stringify(metadata), createdAtMs);
          }
        }
      });
      write.immediate();
      this.#indexes.delete(group);
    });
  }

  search(group: string, vector: Float32Array, count: number, without: readonly string[]): Promise<ColdHit[]> {
    return this.#guard(() => {
      const index = this.#index(group);
      if (count === 0 || index.size === 0 || isZero(vector)) return [];
      // An excluded memory can have many chunks: search deeper until enough other hits are found.
      for (let wanted = count + without.length; ; wanted *= 2) {
        const found = index.search(vector, wanted).filter(({ memory: { hit } }) => !without.includes(hit.memoryId));
        if (found.length < count && wanted < index.size) continue;
        return found.slice(0, count).map(({ memory: { hit }, score }) => ({ ...hit, score }));
      }
    });
  }

  remove(group: string, memoryId: string): Promise<boolean> {
    return this.#guard(() => {
      this.#indexes.delete(group);
      return this.#delete(group, memoryId) > 0;
    });
  }

  count(group: string): Promise<number> {
    const query = 'SELECT count(DISTINCT memory_id) FROM chunks WHERE group_id = ?';
    return this.#guard(() => this.#client.prepare<[string], number>(query).pluck().get(group)!);
  }

  async drop(): Promise<void> {
    await this.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(this.#path + suffix, { force: true });
  }

  async close(): Promise<void> {
    this.#indexes.clear();
    this.#client.close();
  }

  /** Deletes the chunks of a memory. @returns their number */
  #delete(group: string, memoryId: string): number {
    return this.#client.prepare('DELETE FROM chunks WHERE group_id = ? AND memory_id = ?').run(group, memoryId).changes;
  }

  #index(group: string): MemoryVectorIndex<IndexedChunk> {
    const known = this.#indexes.get(group);
    if (known !== undefined) return known;
    const query = `SELECT rowid, memory_id AS memoryId, chunk, content, metadata, created_at AS createdAtMs, embedding
      FROM chunks WHERE group_id = ? AND embedding IS NOT NULL ORDER BY rowid`;
    const rows = this.#client.prepare<[string], ChunkRow>(query).all(group);
    const chunks = rows.map(({ rowid, embedding: bytes, ...row }) => {
      const hit = { ...row, metadata: JSON.parse(row.metadata) as ColdHit['metadata'] };
      // Copied, because a blob may start at an offset where no Float32Array can.
      const embedding = new Float32Array(new Uint8Array(bytes).buffer);
      return { memoryId: String(rowid), content: hit.content, embedding, metadata: hit.metadata, hit };
    });
    const index = new MemoryVectorIndex<IndexedChunk>(this.#backend, this.#dimension);
    index.add(chunks);
    this.#indexes.set(group, index);
    return index;
  }

  async #guard<Result>(work: () => Result): Promise<Result> {
    try {
      return work();
    } catch (error) {
      throw databaseError(this.#path, error);
    }
  }
}
