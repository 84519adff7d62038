/**
 * What recall costs: `npm run bench:recall`. The router beside the bare index, batch embedding beside one by one, and
 * every strategy and store over many memories of one user, each in a process of its own, so that its memory is its own.
 * It prints and never fails: a busy machine slows all down, so read the ratios.
 *
 *   npm run bench:recall -- --memories 100000 --hot redis://… --cold postgres://…
 *
 * Without --hot and --cold it starts Debian's redis-server, where it is installed, and PostgreSQL in WebAssembly.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Bench } from 'tinybench';
import { retrieverNames } from '../src/config/bench-config.ts';
import { EmbeddingService } from '../src/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../src/embedding/transformers-embedder.ts';
import { MemoryRouter } from '../src/memory/memory-router.ts';
import type { TieredSettings } from '../src/memory/strategies/tiered/tier-places.ts';
import { chooseVectorBackend } from '../src/memory/vector-backend.ts';
import { PostgresServer } from '../test/fixtures/postgres-server.ts';
import { hasRedisServer, RedisServer } from '../test/fixtures/redis-server.ts';
import { benchHybrid } from './bench-hybrid.ts';
import { contentOf, DIMENSION, embeddingsByHash, measureRow, questionOf, TOP_K, USER } from './recall-row.ts';
import type { RecallFigures, RecallRow } from './recall-row.ts';
import { runScript, wholeNumber } from './run-script.ts';

const SHIPPED_EMBEDDER = fileURLToPath(new URL('../models/embed-en', import.meta.url));
const ROUTER_MEMORIES = 10_000;
/** A graph of more takes WebAssembly too long to build. */
const WASM_MEMORIES = 3_000;
/** What is compared takes turns this often, so that a busy moment meets both. */
const ROUNDS = 9;

type Step = readonly [name: string, run: () => unknown];

/** The median time of each step, and of its ratio to the first, ms, over rounds in which they take turns. */
async function compare(steps: readonly Step[], timeMs: number): Promise<{ ms: number; ratio: number }[]> {
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bench = new Bench({ time: timeMs / ROUNDS, warmupTime: timeMs / ROUNDS / 4, iterations: 3 });
    for (const [name, run] of steps) bench.add(name, run);
    await bench.run();
    rounds.push(bench.tasks.map(({ result }) => (result.state === 'completed' ? result.latency.p50 : Number.NaN)));
  }
  const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[(ROUNDS - 1) / 2]!;
  return steps.map((_, step) => ({
    ms: median(rounds.map((times) => times[step]!)),
    ratio: median(rounds.map((times) => times[step]! / times[0]!)),
  }));
}

function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const colAligns = head.map((_, index) => (index === 0 ? 'left' : 'right'));
  const table = new Table({ head: [...head], colAligns, style: { head: [], border: [] } });
  for (const row of rows) table.push([...row]);
  console.log(table.toString());
}

async function benchRouter(timeMs: number): Promise<void> {
  const { backend } = chooseVectorBackend();
  const embeddings = embeddingsByHash();
  const router = new MemoryRouter(embeddings, { backend, topK: TOP_K, threshold: -1 });
  const index = backend.createIndex(DIMENSION);
  const contents = Array.from({ length: ROUTER_MEMORIES }, (_, i) => contentOf(i));
  const vectors = await embeddings.embedMany(contents);
  index.add(vectors);
  await router.addMemories(
    contents.map((content, i) => ({ memoryId: `m${i}`, userId: USER, content, embedding: vectors[i]! })),
  );
  const question = await embeddings.embed(questionOf(0), 'query');
  const steps: readonly Step[] = [
    [`${backend.name} ${backend.version}`, () => index.search(question, TOP_K)],
    ['router, given the vector', () => router.searchVector(question, { userId: USER })],
  ];
  console.log(`${ROUTER_MEMORIES} memories × ${DIMENSION}, nearest ${TOP_K}, median of ${ROUNDS} rounds`);
  const times = await compare(steps, timeMs);
  printTable(
    ['search', 'ms', '× bare'],
    times.map(({ ms, ratio }, i) => [steps[i]![0], ms.toFixed(3), ratio.toFixed(2)]),
  );
}

async function benchEmbedding(timeMs: number): Promise<void> {
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(SHIPPED_EMBEDDER));
  const texts = Array.from({ length: 100 }, (_, i) => contentOf(i));
  await embeddings.embedMany(texts);
  const oneByOne = async (): Promise<void> => {
    embeddings.clear();
    for (const text of texts) await embeddings.embed(text);
  };
  const inOneBatch = async (): Promise<void> => {
    embeddings.clear();
    await embeddings.embedMany(texts);
  };
  const steps: readonly Step[] = [
    ['one by one', oneByOne],
    ['in one batch', inOneBatch],
  ];
  const { name } = await embeddings.info();
  console.log(`${texts.length} texts to be promoted, embedded by ${name}, median of ${ROUNDS} rounds`);
  const times = await compare(steps, timeMs);
  printTable(
    ['embedding', 'ms', '× one by one'],
    times.map(({ ms, ratio }, i) => [steps[i]![0], ms.toFixed(1), ratio.toFixed(2)]),
  );
}

/** A row in a process of its own; undefined where that failed, which says why itself. */
async function measureApart(row: RecallRow): Promise<RecallFigures | undefined> {
  const child = fork(fileURLToPath(import.meta.url), ['--row', JSON.stringify(row)], {
    execArgv: [...process.execArgv, '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let figures: RecallFigures | undefined;
  child.on('message', (message) => (figures = message as RecallFigures));
  await once(child, 'exit');
  return figures;
}

function rowsOf(memories: number, hot: string | undefined, cold: string, server: string): RecallRow[] {
  const inProcess: TieredSettings = { coldIndex: 'ivfflat' };
  const onServer = server === 'PGlite' ? Math.min(memories, WASM_MEMORIES) : memories;
  return [
    ...retrieverNames.map((retriever): RecallRow => ({ name: retriever, retriever, tiers: inProcess, memories })),
    ...(hot === undefined
      ? []
      : [{ name: 'tiered, Redis', retriever: 'tiered', tiers: { ...inProcess, hot }, memories } as const]),
    ...(['ivfflat', 'ivfflat-approximate', 'hnsw'] as const).map((coldIndex): RecallRow => {
      const name = `tiered, ${server} ${coldIndex}`;
      return { name, retriever: 'tiered', tiers: { cold, coldIndex }, memories: onServer };
    }),
  ];
}

async function benchWords(memories: number): Promise<void> {
  const figures = await benchHybrid(embeddingsByHash(), memories, TOP_K);
  console.log(`${memories} memories × ${DIMENSION} in sentences, nearest ${TOP_K}, search and ranking, median`);
  printTable(
    ['strategy', 'ms', '× vectors alone'],
    figures.map(({ name, ms, timesVectorSearch }) => [name, ms.toFixed(3), timesVectorSearch.toFixed(2)]),
  );
}

async function benchStrategies(memories: number, given: Pick<TieredSettings, 'hot' | 'cold'>): Promise<void> {
  await using redis = given.hot === undefined && hasRedisServer() ? await RedisServer.start() : undefined;
  await using postgres = given.cold === undefined ? await PostgresServer.start() : undefined;
  const server = postgres === undefined ? 'PostgreSQL' : 'PGlite';
  const rows = rowsOf(memories, given.hot ?? redis?.url, given.cold ?? postgres!.url, server);
  console.log(`memories of one user × ${DIMENSION}, nearest ${TOP_K}; what a server takes is not in RSS`);
  const figures: string[][] = [];
  for (const row of rows) {
    const measured = await measureApart(row);
    const cells =
      measured === undefined
        ? ['failed', '', '', '', '']
        : [
            (measured.loadMs / 1_000).toFixed(1),
            measured.p50Ms.toFixed(2),
            measured.p95Ms.toFixed(2),
            `${(100 * measured.nearest).toFixed(0)} %`,
            (measured.rssBytes / 2 ** 20).toFixed(0),
          ];
    figures.push([row.name, String(row.memories), ...cells]);
  }
  printTable(['strategy', 'memories', 'load, s', 'p50, ms', 'p95, ms', 'of the nearest', 'RSS, MiB'], figures);
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      memories: { type: 'string', default: '100000' },
      'time-ms': { type: 'string', default: '3000' },
      hot: { type: 'string' },
      cold: { type: 'string' },
      row: { type: 'string' },
    },
  });
  if (values.row !== undefined) {
    process.send!(await measureRow(JSON.parse(values.row) as RecallRow));
    return;
  }
  const memories = wholeNumber('memories', values.memories, 1);
  const timeMs = wholeNumber('time-ms', values['time-ms'], 1);
  await benchRouter(timeMs);
  await benchEmbedding(timeMs);
  await benchWords(ROUTER_MEMORIES);
  await benchStrategies(memories, values);
});
