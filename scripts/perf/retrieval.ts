/**
 * Costs of retrieval: `npm run perf -- retrieval`. The router beside the bare index, batch embedding beside one by one, and
 * every strategy and store over many memories of one user, each in a process of its own, so that its memory is its own.
 * It prints and never fails: a busy machine slows all down, so read the ratios.
 *
 *   npm run perf -- retrieval --memories 100000 --redis redis://… --postgres postgres://… --rows tiered
 *
 * Without --redis and --postgres each row has a server of its own: Debian's redis-server, where it is installed, and
 * PostgreSQL in WebAssembly. --rows measures only the strategies whose name holds the text.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Bench } from 'tinybench';
import { presetModels } from '../../src/models/preset-models.ts';
import { searchingRetrieverNames } from '../../src/config/retriever-names.ts';
import { EmbeddingService } from '../../src/models/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../../src/models/embedding/transformers-embedder.ts';
import { MemoryRouter } from '../../src/retrieval/memory-router.ts';
import { postgresAddress, redisAddress } from '../../src/config/server-address.ts';
import { chooseVectorBackend } from '../../src/retrieval/vectors/vector-backend.ts';
import { hasRedisServer } from '../../test/fixtures/redis-server.ts';
import { benchHybrid } from './retrieval/hybrid.ts';
import { contentOf, DIMENSION, embeddingsByHash, measureRow, questionOf, TOP_K, USER } from './retrieval/row.ts';
import type { RetrievalFigures, RetrievalRow } from './retrieval/row.ts';
import { runScript, wholeNumber } from '../run-script.ts';

const ROUTER_MEMORIES = 10_000;
/** To put a batch into a graph of more takes WebAssembly longer than a call may take. */
const WASM_GRAPH_MEMORIES = 3_000;
/** Steps that are compared take turns this often, so that a busy moment meets both. */
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
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(presetModels.embedder));
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

/** The reason why a row could not be measured. */
interface RowFailure {
  readonly failed: string;
}

/** In a process of its own. */
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

/** The same, in the process of the row. */
async function sendRow(row: RetrievalRow): Promise<void> {
  const result: RetrievalFigures | RowFailure = await measureRow(row).catch((error: unknown) => ({
    failed: (error as Error).message,
  }));
  process.send!(result);
}

function rowsOf(memories: number, redis: string | undefined, postgres: string | undefined): RetrievalRow[] {
  const coldIndex = 'ivfflat';
  const place = postgres === undefined ? 'PGlite' : 'PostgreSQL';
  return [
    ...searchingRetrieverNames.map((retriever): RetrievalRow => ({ name: retriever, retriever, coldIndex, memories })),
    ...(redis !== undefined || hasRedisServer()
      ? [
          {
            name: 'tiered, Redis',
            retriever: 'tiered',
            server: { tier: 'hot', url: redis },
            coldIndex,
            memories,
          } as const,
        ]
      : []),
    ...(['ivfflat', 'ivfflat-approximate', 'hnsw'] as const).map((index): RetrievalRow => {
      const held = postgres === undefined && index === 'hnsw' ? Math.min(memories, WASM_GRAPH_MEMORIES) : memories;
      const server = { tier: 'cold', url: postgres } as const;
      return { name: `tiered, ${place} ${index}`, retriever: 'tiered', server, coldIndex: index, memories: held };
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

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

function cellsOf({ loadMs, p50Ms, p95Ms, nearest, rssBytes, serverBytes, sizes }: RetrievalFigures): string[] {
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
  const figures: string[][] = [];
  const notes: string[] = [];
  for (const row of rows) {
    const measured = await measureApart(row);
    const failed = 'failed' in measured;
    figures.push([row.name, String(row.memories), ...(failed ? ['failed'] : cellsOf(measured))]);
    if (failed) notes.push(`${row.name}: ${measured.failed}`);
    else if (row.memories < memories) {
      notes.push(`${row.name}: WebAssembly cannot keep more in a graph in the time that a call may take`);
    }
  }
  const { backend } = chooseVectorBackend();
  console.log(`memories of one user × ${DIMENSION} in directions by chance, hard for a search that is not exact;
nearest ${TOP_K}. RSS is what the strategy's process grew by, server what a server's process did, where it can be known,
table + index what pgvector's files take. Vector search in the process: ${backend.name} ${backend.version}.`);
  const head = ['strategy', 'memories', 'load, s', 'p50, ms', 'p95, ms', 'of the nearest', 'RSS, MiB', 'server, MiB'];
  printTable([...head, 'table + index, MiB'], figures);
  for (const note of notes) console.log(note);
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      memories: { type: 'string', default: '100000' },
      'time-ms': { type: 'string', default: '3000' },
      redis: { type: 'string' },
      postgres: { type: 'string' },
      rows: { type: 'string' },
      row: { type: 'string' },
    },
  });
  if (values.row !== undefined) return sendRow(JSON.parse(values.row) as RetrievalRow);
  const { redis, postgres, rows = '' } = values;
  const memories = wholeNumber('memories', values.memories, 1);
  const timeMs = wholeNumber('time-ms', values['time-ms'], 1);
  if (redis !== undefined) redisAddress(redis, '--redis');
  if (postgres !== undefined) postgresAddress(postgres, '--postgres');
  if (rows === '') {
    await benchRouter(timeMs);
    await benchEmbedding(timeMs);
    await benchWords(ROUTER_MEMORIES);
  }
  const chosen = rowsOf(memories, redis, postgres).filter(({ name }) => name.includes(rows));
  await benchStrategies(chosen, memories);
});
