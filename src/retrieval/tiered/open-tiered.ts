import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { VectorBackend } from '../vectors/vector-index.ts';
import type { ColdStore } from './cold-store.ts';
import type { HotStore } from './hot-store.ts';
import { InProcessHotStore } from './in-process-hot-store.ts';
import { noEvents } from './memory-retrieval-node.ts';
import { postgresIndexes } from './postgres-index.ts';
import { SqliteColdStore } from './sqlite-cold-store.ts';
import { STORE_TIMEOUT_MS } from './store-error.ts';
import type { TieredSettings } from './tier-places.ts';
import { TieredRetriever } from './tiered-retriever.ts';

/** Dependencies and settings of `openTiered`. */
export interface TieredOpening extends TieredSettings {
  readonly embeddings: EmbeddingService;
  readonly backend: VectorBackend;
  readonly namespace: string;
  /** Private folder: deleted at opening and at closing. */
  readonly folder: string;
}

/**
 * Opens strategy `tiered` for one run: empty at opening, whatever an earlier process left, and deleted at closing.
 * @throws BenchError `database` if a server does not answer, `port` if events cannot be served
 */
export async function openTiered(opening: TieredOpening): Promise<TieredRetriever> {
  const { folder } = opening;
  rmSync(folder, { recursive: true, force: true });
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const part of opened) await part.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const keep = <Part extends { close(): Promise<void> }>(part: Part): Part => {
    opened.unshift(part);
    return part;
  };
  try {
    const hot = keep(await openHot(opening));
    await hot.drop();
    const cold = keep(await openCold(opening));
    const { embeddings } = opening;
    const dropAndClose = async (): Promise<void> => {
      // A server that does not answer cannot be cleaned up; the run ends all the same.
      for (const store of [hot, cold]) await store.drop().catch(() => undefined);
      await close();
    };
    return new TieredRetriever({ hot, cold, embeddings, events: noEvents, close: dropAndClose });
  } catch (error) {
    await close();
    throw error;
  }
}

// Clients of servers are loaded on demand: most runs need none.

async function openHot({ hot, namespace }: TieredOpening): Promise<HotStore> {
  if (hot === undefined) return new InProcessHotStore();
  const { RedisHotStore } = await import('./redis-hot-store.ts');
  return RedisHotStore.open(hot, namespace);
}

async function openCold(opening: TieredOpening): Promise<ColdStore> {
  const { cold, coldIndex, namespace, folder, embeddings, backend } = opening;
  const dimension = await embeddings.dimension();
  if (cold === undefined) return new SqliteColdStore(join(folder, 'long-term.sqlite'), dimension, backend);
  const { PostgresColdStore } = await import('./postgres-cold-store.ts');
  const { connectPostgres } = await import('./postgres-connection.ts');
  const index = postgresIndexes[coldIndex];
  const connection = connectPostgres(cold, index, STORE_TIMEOUT_MS);
  return PostgresColdStore.open(connection, { namespace, dimension, index, fresh: true });
}
