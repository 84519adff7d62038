import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddingService } from '../../../embedding/embedding-service.ts';
import type { VectorBackend } from '../../vector-index.ts';
import type { ColdStore } from './cold-store.ts';
import type { HotStore } from './hot-store.ts';
import { InProcessHotStore } from './in-process-hot-store.ts';
import { noEvents, type NodeEventStream } from './node-events.ts';
import { postgresIndexes } from './postgres-index.ts';
import { SqliteColdStore } from './sqlite-cold-store.ts';
import { STORE_TIMEOUT_MS } from './store-error.ts';
import type { TieredSettings } from './tier-places.ts';
import { TieredRetriever } from './tiered-retriever.ts';

export interface TieredOpening extends TieredSettings {
  readonly embeddings: EmbeddingService;
  readonly backend: VectorBackend;
  readonly namespace: string;
  /** Holds nothing else: it is deleted first, and at the end. */
  readonly folder: string;
}

/**
 * Hot and cold memory of one run: empty when it is opened, whatever an earlier process left, and gone when it is closed.
 * @throws BenchError `database` where a server does not answer, `port` where events cannot be served
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
    const { embeddings, eventsPort } = opening;
    const events = eventsPort === undefined ? noEvents : keep(await openEvents(eventsPort));
    const dropAndClose = async (): Promise<void> => {
      // A server that is gone cannot be tidied up, and the run is over all the same.
      for (const store of [hot, cold]) await store.drop().catch(() => undefined);
      await close();
    };
    return new TieredRetriever({ hot, cold, embeddings, events, close: dropAndClose });
  } catch (error) {
    await close();
    throw error;
  }
}

// Clients of servers are loaded where one is asked for: most runs never do.

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

async function openEvents(port: number): Promise<NodeEventStream & { close(): Promise<void> }> {
  const { NodeEventServer } = await import('./node-event-server.ts');
  return NodeEventServer.open(port);
}
