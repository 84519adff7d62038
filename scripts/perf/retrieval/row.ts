import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RetrieverName } from '../../../src/config/bench-config.ts';
import { EmbeddingService } from '../../../src/models/embedding/embedding-service.ts';
import { readPreRetrievalConfig } from '../../../src/retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from '../../../src/retrieval/open-retriever.ts';
import type { TieredSettings } from '../../../src/retrieval/tiered/open-tiered-retriever.ts';
import { schemaName } from '../../../src/retrieval/tiered/postgres-schema.ts';
import { chooseVectorBackend } from '../../../src/retrieval/vectors/choose-vector-backend.ts';
import { RedisServer } from '../../../test/fixtures/redis-server.ts';

export const DIMENSION = 384;
export const TOP_K = 5;
export const USER = 'ann';
const QUERIES = 40;
const BATCH = 5_000;

/** One strategy with its stores and number of memories. */
export interface RetrievalRow {
  readonly name: string;
  readonly retriever: RetrieverName;
  /** The tier that is on a server, and the server's address; without an address a server is started. */
  readonly server?: { readonly tier: 'hot' | 'cold'; readonly url?: string | undefined };
  readonly coldIndex: TieredSettings['coldIndex'];
  readonly memories: number;
}

export interface RetrievalFigures {
  readonly loadMs: number;
  /** Search and ranking of a question, without its embedding. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Share of the exact nearest that is retrieved. */
  readonly nearest: number;
  /** Growth of this process. */
  readonly rssBytes: number;
  /** Growth of the server's process, if there is one and it is known. */
  readonly serverBytes?: number | undefined;
  /** PostgreSQL's files: the table, and the index of the vectors. */
  readonly sizes?: { readonly tableBytes: number; readonly indexBytes: number } | undefined;
}

/** Embeds each text as its own random direction, in almost no time. */
export function hashEmbeddings(): EmbeddingService {
  const prompts = { query: '', document: '' };
  const embedder = {
    info: { name: 'by hash', dimension: DIMENSION, sha256: '', path: '', runtime: '', prompts },
    embed: (texts: readonly string[]) => Promise.resolve(texts.map(direction)),
  };
  return new EmbeddingService(() => Promise.resolve(embedder), { maxCachedTexts: 1 });
}

function direction(text: string): Float32Array {
  const generator = xoroshiro128plus(createHash('sha256').update(text).digest().readInt32LE(0));
  const values = Float32Array.from({ length: DIMENSION }, () => generator.next() / 2 ** 31);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

export const content = (index: number): string => `Memory ${index}: what I said on day ${index % 3_000}.`;
export const question = (index: number): string => `What did I say, question ${index}?`;

/** Loads memories, retrieves, and measures. @throws Error if memories cannot be stored or retrieved */
export async function measureRow({ name, retriever: strategy, server: tier, ...row }: RetrievalRow) {
  await using server = tier === undefined ? undefined : await openServer(tier);
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-retrieval-'));
  const retriever = await openRetriever(strategy, {
    embeddings: hashEmbeddings(),
    backend: chooseVectorBackend().backend,
    topK: TOP_K,
    threshold: -1,
    namespace: name,
    folder,
    tiers: { coldIndex: row.coldIndex, ...(tier === undefined ? {} : { [tier.tier]: server!.url }) },
    countTokens: (texts) => Promise.resolve(texts.map((text) => text.length / 4)),
    preRetrieval: readPreRetrievalConfig({}, 'defaults'),
  });
  const retrieve = async (query: string) => {
    const retrieval = await retriever.retrieve(query, { userId: USER, topK: TOP_K, threshold: -1 });
    const failed = retrieval.flags.find(({ flag }) => flag === 'failed');
    if (failed !== undefined) throw new Error(failed.reason);
    return retrieval;
  };
  try {
    const serverBefore = await server?.residentBytes();
    const before = process.memoryUsage.rss();
    const start = performance.now();
    for (let first = 0; first < row.memories; first += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, row.memories - first) }, (_, offset) => {
        const index = first + offset;
        const createdAt = new Date(Date.UTC(2020, 0, 1) + index * 60_000).toISOString();
        return { memoryId: `m${index}`, userId: USER, content: content(index), metadata: { createdAt } };
      });
      await retriever.addMemories(batch);
    }
    const loadMs = performance.now() - start;
    // The first search builds what is built on demand.
    await retrieve('warm up');
    globalThis.gc?.();
    const rssBytes = process.memoryUsage.rss() - before;
    const serverAfter = await server?.residentBytes();
    const retrieved: string[][] = [];
    const times: number[] = [];
    for (let index = 0; index < QUERIES; index++) {
      const { memories, timingsMs } = await retrieve(question(index));
      retrieved.push(memories.map(({ memoryId }) => memoryId));
      times.push(timingsMs.search + timingsMs.ranking);
    }
    times.sort((a, b) => a - b);
    const at = (share: number): number => times[Math.ceil(share * times.length) - 1]!;
    return {
      loadMs,
      p50Ms: at(0.5),
      p95Ms: at(0.95),
      nearest: nearestShare(retrieved, row.memories),
      rssBytes,
      serverBytes: serverBefore === undefined || serverAfter === undefined ? undefined : serverAfter - serverBefore,
      sizes: tier?.tier === 'cold' ? await postgresSizes(server!.url, name) : undefined,
    } satisfies RetrievalFigures;
  } finally {
    await retriever.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The share of the nearest memories, found by computing all similarities. @param retrieved ids by question */
function nearestShare(retrieved: readonly (readonly string[])[], memories: number): number {
  const questions = retrieved.map((ids, index) => ({
    ids,
    // A strategy may put new memories in front of those that it searched for.
    added: new Set(ids.slice(0, Math.max(0, ids.length - TOP_K))),
    vector: direction(question(index)),
    best: [] as { readonly id: string; readonly score: number }[],
  }));
  for (let index = 0; index < memories; index++) {
    const id = `m${index}`;
    const vector = direction(content(index));
    for (const one of questions) {
      if (one.added.has(id)) continue;
      let score = 0;
      for (let i = 0; i < DIMENSION; i++) score += one.vector[i]! * vector[i]!;
      if (one.best.length === TOP_K && score <= one.best[TOP_K - 1]!.score) continue;
      one.best = [...one.best, { id, score }].sort((a, b) => b.score - a.score).slice(0, TOP_K);
    }
  }
  const found = questions.flatMap(({ ids, best }) => best.map(({ id }) => ids.includes(id)));
  return found.filter(Boolean).length / found.length;
}

/** A server of a row; disposing stops it if it was started here. */
interface Server extends AsyncDisposable {
  readonly url: string;
  /** Memory of its process; undefined if unknown. */
  residentBytes(): Promise<number | undefined>;
}

async function openServer({ tier, url }: NonNullable<RetrievalRow['server']>): Promise<Server> {
  if (tier === 'hot') return openRedis(url);
  if (url === undefined) return startPglite();
  // A PostgreSQL server's processes share memory, and may be on another machine.
  return { url, residentBytes: () => Promise.resolve(undefined), [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function openRedis(given: string | undefined): Promise<Server> {
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
    [Symbol.asyncDispose]: async () => await started?.[Symbol.asyncDispose](),
  };
}

/** Starts PostgreSQL in WebAssembly, with its files in memory, in its own process. */
async function startPglite(): Promise<Server> {
  const child = fork(fileURLToPath(new URL('pglite-process.ts', import.meta.url)));
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async residentBytes() {
      child.send('resident');
      return ((await once(child, 'message')) as [number])[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function postgresSizes(url: string, namespace: string): Promise<RetrievalFigures['sizes']> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ table: string; index: string }>(
      `SELECT pg_table_size(indrelid) AS table, pg_relation_size(indexrelid) AS index
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = $1::regclass AND relname LIKE 'memories_embedding_%'`,
      [`${schemaName(namespace)}.memories`],
    );
    return { tableBytes: Number(rows[0]!.table), indexBytes: Number(rows[0]!.index) };
  } finally {
    await client.end();
  }
}
