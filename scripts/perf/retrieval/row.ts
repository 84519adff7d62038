import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RetrieverName } from '../../../src/config/retriever-names.ts';
import type { Embedder } from '../../../src/models/embedding/embedder.ts';
import { EmbeddingService } from '../../../src/models/embedding/embedding-service.ts';
import type { Retriever } from '../../../src/retrieval/retriever.ts';
import { readPreRetrievalConfig } from '../../../src/retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { openRetriever } from '../../../src/retrieval/open-retriever.ts';
import type { TieredSettings } from '../../../src/retrieval/tiered/open-tiered.ts';
import { chooseVectorBackend } from '../../../src/retrieval/vectors/vector-backend.ts';
import { retrievalTimes } from './times.ts';
import { openServer, postgresSizes, type PostgresSizes, type RowServer } from './server.ts';

export const DIMENSION = 384;
export const TOP_K = 5;
export const USER = 'ann';
const QUERIES = 40;
const BATCH = 5_000;

/** One strategy on its stores, and how many memories it gets. */
export interface RetrievalRow {
  readonly name: string;
  readonly retriever: RetrieverName;
  readonly server?: RowServer | undefined;
  readonly coldIndex: TieredSettings['coldIndex'];
  readonly memories: number;
}

export interface RetrievalFigures {
  readonly loadMs: number;
  /** Search and ranking of a question, without its embedding. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Share of the exact nearest that are retrieved, those aside that are retrieved for being new. */
  readonly nearest: number;
  /** Growth of the process. */
  readonly rssBytes: number;
  /** Growth of its server's process, where it has one and that can be known. */
  readonly serverBytes?: number | undefined;
  /** Of a row whose server is PostgreSQL. */
  readonly sizes?: PostgresSizes | undefined;
}

const NO_PROMPTS = { query: '', document: '' };

/** A direction of its own for each text: neither the meaning nor the time of embedding is measured here. */
export function embeddingsByHash(): EmbeddingService {
  const embedder: Embedder = {
    info: { name: 'by hash', dimension: DIMENSION, sha256: '', path: '', runtime: '', prompts: NO_PROMPTS },
    embed: (texts) => Promise.resolve(texts.map(directionOf)),
  };
  return new EmbeddingService(() => Promise.resolve(embedder), { maxCachedTexts: 1 });
}

function directionOf(text: string): Float32Array {
  const generator = xoroshiro128plus(createHash('sha256').update(text).digest().readInt32LE(0));
  const values = Float32Array.from({ length: DIMENSION }, () => generator.next() / 2 ** 31);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

export const contentOf = (index: number): string => `Memory ${index}: what I said on day ${index % 3_000}.`;
export const questionOf = (index: number): string => `What did I say, question ${index}?`;

/**
 * Loads, asks, and measures the growth of the process, and of a server that it started for this.
 * @throws Error where memories cannot be kept or retrieved
 */
export async function measureRow(row: RetrievalRow): Promise<RetrievalFigures> {
  const { name, retriever: strategy, coldIndex, memories } = row;
  await using server = row.server && (await openServer(row.server));
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-retrieval-'));
  const retriever = await openRetriever(strategy, {
    embeddings: embeddingsByHash(),
    backend: chooseVectorBackend().backend,
    topK: TOP_K,
    threshold: -1,
    namespace: name,
    folder,
    tiers: row.server === undefined ? { coldIndex } : { coldIndex, [row.server.tier]: server!.url },
    // A model's tokenizer takes its time, which is not what is measured here.
    countTokens: async (texts) => texts.map((text) => text.length / 4),
    preRetrieval: readPreRetrievalConfig({}, 'defaults'),
  });
  try {
    const serverBefore = await server?.residentBytes();
    const before = process.memoryUsage.rss();
    const start = performance.now();
    await load(retriever, memories);
    const loadMs = performance.now() - start;
    const ask = async (question: string) => {
      const retrieval = await retriever.retrieve(question, { userId: USER, topK: TOP_K, threshold: -1 });
      const failed = retrieval.flags.find(({ flag }) => flag === 'failed');
      if (failed !== undefined) throw new Error(failed.reason);
      return retrieval;
    };
    // The first search builds what is built when it is needed.
    await ask('warm up');
    globalThis.gc?.();
    const rssBytes = process.memoryUsage.rss() - before;
    const serverBytes = growth(serverBefore, await server?.residentBytes());
    const sizes = row.server?.tier === 'cold' ? await postgresSizes(server!.url, name) : undefined;
    const retrieved: string[][] = [];
    const times = await retrievalTimes(QUERIES, async (index) => {
      const retrieval = await ask(questionOf(index));
      retrieved[index] = retrieval.memories.map(({ memoryId }) => memoryId);
      return retrieval;
    });
    const at = (share: number): number => times[Math.ceil(share * times.length) - 1]!;
    const nearest = shareOfNearest(retrieved, memories);
    return { loadMs, p50Ms: at(0.5), p95Ms: at(0.95), nearest, rssBytes, serverBytes, sizes };
  } finally {
    await retriever.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function growth(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}

async function load(retriever: Retriever, memories: number): Promise<void> {
  for (let start = 0; start < memories; start += BATCH) {
    await retriever.addMemories(
      Array.from({ length: Math.min(BATCH, memories - start) }, (_, offset) => {
        const index = start + offset;
        const createdAt = new Date(Date.UTC(2020, 0, 1) + index * 60_000).toISOString();
        return { memoryId: `m${index}`, userId: USER, content: contentOf(index), metadata: { createdAt } };
      }),
    );
  }
}

/** By the definition, after all that is measured. @param retrieved ids by question */
function shareOfNearest(retrieved: readonly (readonly string[])[], memories: number): number {
  const questions = retrieved.map((ids, index) => ({
    ids,
    // Memories that a strategy puts in front of those that it searched are there for being new.
    isNew: new Set(ids.slice(0, Math.max(0, ids.length - TOP_K))),
    direction: directionOf(questionOf(index)),
    best: [] as { readonly id: string; readonly score: number }[],
  }));
  for (let index = 0; index < memories; index++) {
    const id = `m${index}`;
    const direction = directionOf(contentOf(index));
    for (const { isNew, direction: asked, best } of questions) {
      if (isNew.has(id)) continue;
      let score = 0;
      for (let i = 0; i < DIMENSION; i++) score += asked[i]! * direction[i]!;
      if (best.length === TOP_K && score <= best[TOP_K - 1]!.score) continue;
      best.push({ id, score });
      best.sort((a, b) => b.score - a.score);
      best.length = Math.min(best.length, TOP_K);
    }
  }
  const wanted = questions.flatMap(({ ids, best }) => best.map(({ id }) => ids.includes(id)));
  return wanted.filter(Boolean).length / wanted.length;
}
