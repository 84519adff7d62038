/**
 * Measures retrieval: `npm run perf -- retrieval`. The router is compared with the bare index, batch embedding with single texts, rankings
 * with vector search alone; then every strategy and store gets many memories of one user, each in its own process, whose memory
 * is measured. A busy machine slows down everything, so read the ratios.
 *
 *   npm run perf -- retrieval --memories 100000 --redis redis://… --postgres postgres://… --rows tiered
 *
 * Without --redis and --postgres each row starts its own server: Debian's redis-server, if installed, and PostgreSQL in WebAssembly.
 * --rows measures only the strategies whose name contains the text.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median } from 'simple-statistics';
import { Bench } from 'tinybench';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { searchingRetrieverNames } from '../../src/config/bench-config.ts';
import { postgresAddress, redisAddress } from '../../src/config/normalise-server-addresses.ts';
import { EmbeddingService } from '../../src/models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/models/embedding/transformers-embedder.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { HintedRetriever } from '../../src/retrieval/hinted/hinted-retriever.ts';
import { readPreRetrievalConfig } from '../../src/retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
import { MemoryRouter, RouterRetriever } from '../../src/retrieval/similarity/memory-router.ts';
import type { Retriever } from '../../src/retrieval/retriever.ts';
import { SalienceRetriever } from '../../src/retrieval/salience/salience-retriever.ts';
import { chooseVectorBackend } from '../../src/retrieval/vectors/choose-vector-backend.ts';
import { hasRedisServer } from '../../test/fixtures/redis-server.ts';
import { printTable, readOptions, runScript, wholeNumbers } from '../run-script.ts';
import { drawEmbeddingPairs } from '../train/documents/embedding-pairs.ts';
import {
  content,
  DIMENSION,
  hashEmbeddings,
  measureRow,
  question,
  type RetrievalFigures,
  type RetrievalRow,
  TOP_K,
  USER,
} from './retrieval/row.ts';

const ROUTER_MEMORIES = 10_000;
/** Adding a batch to a graph with more takes WebAssembly longer than a call may take. */
const WASM_GRAPH_MEMORIES = 3_000;
/** Rounds in which compared steps take turns. */
const ROUNDS = 9;
const { backend } = chooseVectorBackend();

type Step = readonly [name: string, run: () => unknown];

/** Prints the median time of each step, and of its ratio to the first, over rounds in which they take turns. */
async function compare(head: readonly [string, string], steps: readonly Step[], timeMs: number): Promise<void> {
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bench = new Bench({ time: timeMs / ROUNDS, warmupTime: timeMs / ROUNDS / 4, iterations: 3 });
    for (const [name, run] of steps) bench.add(name, run);
    await bench.run();
    rounds.push(bench.tasks.map(({ result }) => (result.state === 'completed' ? result.latency.p50 : Number.NaN)));
  }
  const rows = steps.map(([name], step) => [
    name,
    median(rounds.map((times) => times[step]!)).toFixed(3),
    median(rounds.map((times) => times[step]! / times[0]!)).toFixed(2),
  ]);
  printTable([head[0], 'ms', head[1]], rows);
}

async function benchRouter(timeMs: number): Promise<void> {
  const embeddings = hashEmbeddings();
  const router = new MemoryRouter(embeddings, { backend, topK: TOP_K, threshold: -1 });
  const index = backend.createIndex(DIMENSION);
  const contents = Array.from({ length: ROUTER_MEMORIES }, (_, i) => content(i));
  const vectors = await embeddings.embedMany(contents);
  index.add(vectors);
  await router.addMemories(
    contents.map((text, i) => ({ memoryId: `m${i}`, userId: USER, content: text, embedding: vectors[i]! })),
  );
  const query = await embeddings.embed(question(0), 'query');
  console.log(`${ROUTER_MEMORIES} memories × ${DIMENSION}, nearest ${TOP_K}, median of ${ROUNDS} rounds`);
  const steps: readonly Step[] = [
    [`${backend.name} ${backend.version}`, () => index.search(query, TOP_K)],
    ['router, given the vector', () => router.searchVector(query, { userId: USER })],
  ];
  await compare(['search', '× bare'], steps, timeMs);
}

async function benchEmbedding(timeMs: number): Promise<void> {
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(presetModels.embedder));
  const texts = Array.from({ length: 100 }, (_, i) => content(i));
  await embeddings.embedMany(texts);
  const oneByOne = async (): Promise<void> => {
    embeddings.clear();
    for (const text of texts) await embeddings.embed(text);
  };
  const inOneBatch = async (): Promise<void> => {
    embeddings.clear();
    await embeddings.embedMany(texts);
  };
  const { name } = await embeddings.info();
  console.log(`${texts.length} texts, embedded by ${name}, median of ${ROUNDS} rounds`);
  const steps: readonly Step[] = [
    ['one by one', oneByOne],
    ['in one batch', inOneBatch],
  ];
  await compare(['embedding', '× one by one'], steps, timeMs);
}

/** Compares rankings over sentences of the data's grammar, whose words have natural frequencies; strategies take turns. */
async function benchRankings(memories: number): Promise<void> {
  const embeddings = hashEmbeddings();
  const drawn = drawEmbeddingPairs(new SeededRandom(1), memories, { heldOut: false, phrasing: 'known' });
  const questions = drawn.questions.slice(0, 200);
  const countTokens = (texts: readonly string[]) => Promise.resolve(texts.map((text) => Math.ceil(text.length / 4)));
  const hinted = (config: object): Retriever =>
    new HintedRetriever(embeddings, { backend, ...readPreRetrievalConfig(config, 'bench') });
  const router = new MemoryRouter(embeddings, { backend, topK: TOP_K, threshold: -1 });
  const strategies: readonly (readonly [name: string, retriever: Retriever])[] = [
    ['vector search alone', new RouterRetriever(router, embeddings)],
    ['salience, hybrid', new SalienceRetriever(embeddings, { backend, countTokens })],
    ['hinted, semantic', hinted({ action: ['route', 'embedding'], keyword_rules: [] })],
    ['hinted, deep', hinted({ action: ['route', 'embedding'], keyword_rules: [], default_strategy: 'deep_search' })],
  ];
  const options = { userId: USER, topK: TOP_K, threshold: -1, now: new Date('2026-06-01T00:00:00Z') };
  const metadata = { createdAt: '2026-01-01T00:00:00Z' };
  const stored = drawn.memories.map((text, index) => ({
    memoryId: `m${index}`,
    userId: USER,
    content: text,
    metadata,
  }));
  for (const [, retriever] of strategies) {
    await retriever.addMemories(stored);
    await retriever.retrieve('warm up', options);
  }
  const times = strategies.map((): number[] => []);
  for (let round = 0; round < 5; round++) {
    for (const [index, [, retriever]] of strategies.entries()) {
      for (const asked of questions) {
        const { timingsMs } = await retriever.retrieve(asked, options);
        times[index]!.push(timingsMs.search + timingsMs.ranking);
      }
    }
  }
  for (const [, retriever] of strategies) await retriever.close();
  const medians = times.map(median);
  console.log(`${memories} memories × ${DIMENSION} in sentences, nearest ${TOP_K}, search and ranking, median`);
  printTable(
    ['strategy', 'ms', '× vectors alone'],
    strategies.map(([name], i) => [name, medians[i]!.toFixed(3), (medians[i]! / medians[0]!).toFixed(2)]),
  );
}

interface RowFailure {
  readonly failed: string;
}

async function measureApart(row: RetrievalRow): Promise<RetrievalFigures | RowFailure> {
  const child = fork(fileURLToPath(import.meta.url), ['--row', JSON.stringify(row)], {
    execArgv: [...process.execArgv, '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let figures: RetrievalFigures | RowFailure | undefined;
  child.on('message', (message) => (figures = message as RetrievalFigures | RowFailure));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return figures ?? { failed: `its process ended with ${signal ?? code}` };
}

function strategyRows(memories: number, redis: string | undefined, postgres: string | undefined): RetrievalRow[] {
  const base = { coldIndex: 'ivfflat', memories } as const;
  const hot = { tier: 'hot', url: redis } as const;
  const cold = { tier: 'cold', url: postgres } as const;
  const withRedis = redis !== undefined || hasRedisServer();
  const place = postgres === undefined ? 'PGlite' : 'PostgreSQL';
  return [
    ...searchingRetrieverNames.map((retriever) => ({ ...base, name: retriever, retriever })),
    ...(withRedis ? [{ ...base, name: 'tiered, Redis', retriever: 'tiered', server: hot } as const] : []),
    ...(['ivfflat', 'ivfflat-approximate', 'hnsw'] as const).map((coldIndex) => ({
      name: `tiered, ${place} ${coldIndex}`,
      retriever: 'tiered' as const,
      server: cold,
      coldIndex,
      memories: postgres === undefined && coldIndex === 'hnsw' ? Math.min(memories, WASM_GRAPH_MEMORIES) : memories,
    })),
  ];
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

function figureCells({ loadMs, p50Ms, p95Ms, nearest, rssBytes, serverBytes, sizes }: RetrievalFigures): string[] {
  return [
    (loadMs / 1_000).toFixed(1),
    p50Ms.toFixed(2),
    p95Ms.toFixed(2),
    `${(100 * nearest).toFixed(0)} %`,
    mib(rssBytes),
    serverBytes === undefined ? '–' : mib(serverBytes),
    sizes === undefined ? '–' : `${mib(sizes.tableBytes)} + ${mib(sizes.indexBytes)}`,
  ];
}

async function benchStrategies(rows: readonly RetrievalRow[], memories: number): Promise<void> {
  const cells: string[][] = [];
  const notes: string[] = [];
  for (const row of rows) {
    const measured = await measureApart(row);
    const failed = 'failed' in measured;
    cells.push([row.name, String(row.memories), ...(failed ? ['failed'] : figureCells(measured))]);
    if (failed) notes.push(`${row.name}: ${measured.failed}`);
    else if (row.memories < memories) notes.push(`${row.name}: fewer, because WebAssembly builds a graph too slowly`);
  }
  console.log(`memories of one user × ${DIMENSION} in random directions, which are hard for approximate search;
nearest ${TOP_K}. RSS: growth of the strategy's process. Server: growth of its server's process, if known.
Table + index: pgvector's files. Vector search in the process: ${backend.name} ${backend.version}.`);
  const head = ['strategy', 'memories', 'load, s', 'p50, ms', 'p95, ms', 'nearest found', 'RSS, MiB', 'server, MiB'];
  printTable([...head, 'table + index, MiB'], cells);
  for (const note of notes) console.log(note);
}

await runScript(async () => {
  const optional = ['redis', 'postgres', 'row'] as const;
  const values = readOptions({ memories: '100000', 'time-ms': '3000', rows: '' }, optional);
  const { redis, postgres, rows, row } = values;
  if (row !== undefined) {
    const failed = (error: unknown): RowFailure => ({ failed: (error as Error).message });
    process.send!(await measureRow(JSON.parse(row) as RetrievalRow).catch(failed));
    return;
  }
  const { memories, 'time-ms': timeMs } = wholeNumbers(values, { memories: 1, 'time-ms': 1 });
  if (redis !== undefined) redisAddress(redis, '--redis');
  if (postgres !== undefined) postgresAddress(postgres, '--postgres');
  if (rows === '') {
    await benchRouter(timeMs);
    await benchEmbedding(timeMs);
    await benchRankings(ROUTER_MEMORIES);
  }
  const chosen = strategyRows(memories, redis, postgres).filter(({ name }) => name.includes(rows));
  await benchStrategies(chosen, memories);
});
