import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ColdIndexName } from '../../config/bench-config.ts';
import { postgresAddress, redisAddress } from '../../config/normalise-server-addresses.ts';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { VectorBackend } from '../vectors/vector-backends.ts';
import type { ColdStore } from './cold-store.ts';
import { type HotStore, InProcessHotStore } from './hot-store.ts';
import { SqliteColdStore } from './sqlite-cold-store.ts';
import { STORE_TIMEOUT_MS, storeError } from './store-error.ts';
import { TieredRetriever } from './tiered-retriever.ts';

/** Addresses of the stores of `tiered`, from the options. */
export interface TieredSettings {
  /** `redis://…`. Default: in this process. */
  readonly hot?: string | undefined;
  /** `postgres://…`. Default: a SQLite file. */
  readonly cold?: string | undefined;
  readonly coldIndex: ColdIndexName;
}

/**
 * Returns the addresses of the stores for a run's record, without users and passwords.
 * @throws BenchError `bad-option` for an invalid address
 */
export function tierAddresses({ hot, cold }: TieredSettings): Readonly<Record<'hot' | 'cold', string>> {
  return {
    hot: hot === undefined ? 'in-process' : redisAddress(hot),
    cold: cold === undefined ? 'sqlite' : postgresAddress(cold),
  };
}

/** Dependencies and settings of `openTieredRetriever`. */
interface TieredOpening extends TieredSettings {
  readonly embeddings: EmbeddingService;
  readonly backend: VectorBackend;
  readonly namespace: string;
  /** Private folder, deleted when opened and when closed. */
  readonly folder: string;
}

/**
 * Opens strategy `tiered` for one run: empties its stores when opened and deletes them when closed.
 * @throws BenchError `database` if a server does not answer
 */
export async function openTieredRetriever(opening: TieredOpening): Promise<TieredRetriever> {
  const { folder, embeddings } = opening;
  rmSync(folder, { recursive: true, force: true });
  const opened: (HotStore | ColdStore)[] = [];
  const close = async (): Promise<void> => {
    for (const store of opened) await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const hot = await openHot(opening);
    opened.push(hot);
    await hot.drop();
    const cold = await openCold(opening);
    opened.unshift(cold);
    const dropAndClose = async (): Promise<void> => {
      // A server that does not answer cannot be cleaned up; the run still ends.
      for (const store of [hot, cold]) await store.drop().catch(() => undefined);
      await close();
    };
    return new TieredRetriever({ hot, cold, embeddings, close: dropAndClose });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Checks that the servers of the stores answer. @throws BenchError `database` if one does not */
export async function requireServers({ hot, cold, coldIndex }: TieredSettings): Promise<void> {
  if (hot !== undefined) {
    const { RedisHotStore } = await import('./redis-hot-store.ts');
    await (await RedisHotStore.open(hot, 'probe')).close();
  }
  if (cold === undefined) return;
  const { connection } = await connectCold(cold, coldIndex);
  try {
    await connection.database.execute('SELECT 1');
  } catch (error) {
    throw storeError(connection.address, 'opening long-term memory', error);
  } finally {
    await connection.close();
  }
}

// Clients of servers are loaded on demand: most runs need none.

async function openHot({ hot, namespace }: TieredOpening): Promise<HotStore> {
  if (hot === undefined) return new InProcessHotStore();
  const { RedisHotStore } = await import('./redis-hot-store.ts');
  return RedisHotStore.open(hot, namespace);
}

async function connectCold(address: string, coldIndex: ColdIndexName) {
  const { connectPostgres, PostgresColdStore } = await import('./postgres-cold-store.ts');
  const { postgresIndexes } = await import('./postgres-schema.ts');
  const index = postgresIndexes[coldIndex];
  return { connection: connectPostgres(address, index, STORE_TIMEOUT_MS), index, PostgresColdStore };
}

async function openCold(opening: TieredOpening): Promise<ColdStore> {
  const { cold, coldIndex, namespace, folder, embeddings, backend } = opening;
  const dimension = await embeddings.dimension();
  if (cold === undefined) return new SqliteColdStore(join(folder, 'long-term.sqlite'), dimension, backend);
  const { connection, index, PostgresColdStore } = await connectCold(cold, coldIndex);
  return PostgresColdStore.open(connection, { namespace, dimension, index, fresh: true });
}
