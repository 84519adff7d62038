import { createHash } from 'node:crypto';
import { Redis, type ChainableCommander } from 'ioredis';
import type { HotShelf, HotStore } from './hot-store.ts';
import { batches } from '../../base/batches.ts';
import type { MemoryRecord } from './memory-record.ts';
import { STORE_TIMEOUT_MS, storeError } from './store-error.ts';
import { redisAddress } from '../../config/normalise-server-addresses.ts';

/** Lifetime of a shelf after its last write, so that killed processes leave nothing behind. */
const LIFETIME_SECONDS = 24 * 60 * 60;
/** Records in one transaction. */
const BATCH = 500;

/** Hot store in Redis: each shelf is a sorted set of ids by creation time, and a hash of records. */
export class RedisHotStore implements HotStore {
  readonly name = 'redis';
  readonly version: string;
  readonly #redis: Redis;
  readonly #parts;

  private constructor(redis: Redis, parts: Readonly<Record<'address' | 'prefix' | 'version', string>>) {
    this.#redis = redis;
    this.#parts = parts;
    this.version = parts.version;
  }

  /**
   * Connects to a server.
   * @param address `redis://…` or `rediss://…`
   * @param namespace separates the data of one client from all others on the server
   * @throws BenchError `bad-option` for an invalid address, `database` if no server answers
   */
  static async open(address: string, namespace: string, timeoutMs = STORE_TIMEOUT_MS): Promise<RedisHotStore> {
    const shown = redisAddress(address);
    let opened = false;
    const redis = new Redis(address, {
      lazyConnect: true,
      connectTimeout: timeoutMs,
      commandTimeout: timeoutMs,
      maxRetriesPerRequest: 1,
      connectionName: 'dki-bench',
      // No retries before the first connection; a server that goes away later may come back.
      retryStrategy: (attempt) => (opened ? Math.min(attempt * 100, 1_000) : null),
    });
    let reason: Error | undefined;
    redis.on('error', (error) => (reason = error));
    try {
      await redis.connect();
      const version = /^redis_version:(.*)$/m.exec(await redis.info('server'))?.[1]?.trim() ?? 'unknown';
      opened = true;
      const key = createHash('sha256').update(namespace, 'utf16le').digest('hex').slice(0, 16);
      return new RedisHotStore(redis, { address: shown, prefix: `dki-bench:${key}:`, version });
    } catch (error) {
      redis.disconnect();
      throw storeError(shown, 'connecting', reason ?? error);
    }
  }

  put(group: string, shelves: readonly HotShelf[], records: readonly MemoryRecord[]): Promise<void> {
    return this.#guard('writing', async () => {
      for (const batch of batches(records, BATCH)) {
        const transaction = this.#redis.multi();
        for (const { order, byId } of shelves.map((shelf) => this.#keys(group, shelf))) {
          transaction.zadd(order, ...batch.flatMap(({ createdAtMs, memoryId }) => [createdAtMs, memoryId]));
          transaction.hset(byId, ...batch.flatMap((record) => [record.memoryId, JSON.stringify(record)]));
          transaction.expire(order, LIFETIME_SECONDS).expire(byId, LIFETIME_SECONDS);
        }
        await execute(transaction);
      }
    });
  }

  newest(group: string, shelf: HotShelf, count: number, untilMs: number): Promise<MemoryRecord[]> {
    return this.#read(group, shelf, (order) => this.#redis.zrevrangebyscore(order, untilMs, '-inf', 'LIMIT', 0, count));
  }

  oldest(group: string, shelf: HotShelf, count: number): Promise<MemoryRecord[]> {
    return this.#read(group, shelf, async (order) => (count === 0 ? [] : this.#redis.zrange(order, 0, count - 1)));
  }

  remove(group: string, shelves: readonly HotShelf[], memoryIds: readonly string[]): Promise<number> {
    if (memoryIds.length === 0) return Promise.resolve(0);
    return this.#guard('removing', async () => {
      const removed = new Set<string>();
      for (const { order, byId } of shelves.map((shelf) => this.#keys(group, shelf))) {
        const transaction = this.#redis.multi().zrem(order, ...memoryIds);
        for (const id of memoryIds) transaction.hdel(byId, id);
        const [, ...counts] = await execute(transaction);
        memoryIds.filter((_, index) => counts[index] === 1).forEach((id) => removed.add(id));
      }
      return removed.size;
    });
  }

  drop(): Promise<void> {
    return this.#guard('removing everything', async () => {
      // The prefix contains no pattern characters.
      for await (const keys of this.#redis.scanStream({ match: `${this.#parts.prefix}*`, count: 1_000 })) {
        if ((keys as readonly string[]).length > 0) await this.#redis.unlink(...(keys as string[]));
      }
    });
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  #keys(group: string, shelf: HotShelf): { readonly order: string; readonly byId: string } {
    const key = `${this.#parts.prefix}${shelf}:${group}`;
    return { order: `${key}:order`, byId: `${key}:records` };
  }

  /** Reads the records whose ids `find` selects from the sorted set of a shelf. */
  #read(group: string, shelf: HotShelf, find: (order: string) => Promise<string[]>): Promise<MemoryRecord[]> {
    const { order, byId } = this.#keys(group, shelf);
    return this.#guard('reading', async () => {
      const ids = await find(order);
      const found = ids.length === 0 ? [] : await this.#redis.hmget(byId, ...ids);
      return found.flatMap((json) => (json === null ? [] : (JSON.parse(json) as MemoryRecord)));
    });
  }

  async #guard<Result>(action: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw storeError(this.#parts.address, action, error);
    }
  }
}

/** Runs a transaction; Redis reports a failed command as one of the results. */
async function execute(transaction: ChainableCommander): Promise<unknown[]> {
  const results = (await transaction.exec()) ?? [];
  return results.map(([error, result]) => {
    if (error !== null) throw error;
    return result;
  });
}
