/**
 * Measures retrieval: `npm run perf -- retrieval`. Every strategy and store gets many memories of one user, each in its own process,
 * whose memory is measured.
 *
 *   npm run perf -- retrieval --memories 100000 --redis redis://… --postgres postgres://… --rows tiered
 *
 * Without --redis and --postgres each row starts its own server: Debian's redis-server, if installed, and PostgreSQL in WebAssembly.
 * --rows measures only the strategies whose name contains the text.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { searchingRetrieverNames } from '../../src/config/retriever-names.ts';
import { postgresAddress, redisAddress } from '../../src/config/server-address.ts';
import { chooseVectorBackend } from '../../src/retrieval/vectors/vector-backend.ts';
import { hasRedisServer } from '../../test/fixtures/redis-server.ts';
import { printTable, readOptions, runScript, wholeNumber } from '../run-script.ts';
import { DIMENSION, measureRow, type RetrievalFigures, type RetrievalRow, TOP_K } from './retrieval/row.ts';

/** Adding a batch to a graph with more takes WebAssembly longer than a call may take. */
const WASM_GRAPH_MEMORIES = 3_000;
const { backend } = chooseVectorBackend();

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
  const values = readOptions({ memories: '100000', rows: '' }, ['redis', 'postgres', 'row']);
  const { redis, postgres, rows, row } = values;
  if (row !== undefined) {
    const failed = (error: unknown): RowFailure => ({ failed: (error as Error).message });
    process.send!(await measureRow(JSON.parse(row) as RetrievalRow).catch(failed));
    return;
  }
  const memories = wholeNumber('memories', values.memories, 1);
  if (redis !== undefined) redisAddress(redis, '--redis');
  if (postgres !== undefined) postgresAddress(postgres, '--postgres');
  const chosen = strategyRows(memories, redis, postgres).filter(({ name }) => name.includes(rows));
  await benchStrategies(chosen, memories);
});
