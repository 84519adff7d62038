import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { schemaOf } from '../../../src/retrieval/tiered/postgres-schema.ts';
import { RedisServer } from '../../../test/fixtures/redis-server.ts';

/** The tier of a row that lies on a server, and its address; without one, a server is started for the row alone. */
export interface RowServer {
  readonly tier: 'hot' | 'cold';
  readonly url?: string | undefined;
}

/** It is stopped when it is disposed of, where it was started. */
export interface RetrievalServer extends AsyncDisposable {
  readonly url: string;
  /** Memory of its process; undefined where that cannot be known from here. */
  residentBytes(): Promise<number | undefined>;
}

export function openServer({ tier, url }: RowServer): Promise<RetrievalServer> {
  if (tier === 'hot') return openRedis(url);
  return url === undefined ? startPglite() : Promise.resolve(givenPostgres(url));
}

/** Debian's redis-server, where none is given. */
async function openRedis(given: string | undefined): Promise<RetrievalServer> {
  const started = given === undefined ? await RedisServer.start() : undefined;
  const url = given ?? started!.url;
  return {
    url,
    async residentBytes() {
      const redis = new Redis(url);
      const bytes = /^used_memory_rss:(\d+)/m.exec(await redis.info('memory'))?.[1];
      redis.disconnect();
      return bytes === undefined ? undefined : Number(bytes);
    },
    async [Symbol.asyncDispose]() {
      await started?.[Symbol.asyncDispose]();
    },
  };
}

/** PostgreSQL in WebAssembly, which keeps its files in its memory, in a process of its own. */
async function startPglite(): Promise<RetrievalServer> {
  const child = fork(fileURLToPath(new URL('pglite-process.ts', import.meta.url)));
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async residentBytes() {
      const answer = once(child, 'message') as Promise<[number]>;
      child.send('resident');
      const [bytes] = await answer;
      return bytes;
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}

/** Its processes share what they occupy, and may be on another machine. */
function givenPostgres(url: string): RetrievalServer {
  return { url, residentBytes: () => Promise.resolve(undefined), [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Sizes of memories in PostgreSQL's files, of which a server keeps in memory as much as fits. */
export interface PostgresSizes {
  readonly tableBytes: number;
  /** Of the vectors alone. */
  readonly indexBytes: number;
}

export async function postgresSizes(url: string, namespace: string): Promise<PostgresSizes> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ table: string; index: string }>(
      `SELECT pg_table_size(indrelid) AS table, pg_relation_size(indexrelid) AS index
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = $1::regclass AND relname LIKE 'memories_embedding_%'`,
      [`${schemaOf(namespace)}.memories`],
    );
    return { tableBytes: Number(rows[0]!.table), indexBytes: Number(rows[0]!.index) };
  } finally {
    await client.end();
  }
}
