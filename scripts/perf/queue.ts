/**
 * Jobs a second of a queue, without turns: `npm run perf -- queue --queue postgres://… --workers 8 --jobs 1000 --bytes 20000`.
 * Each worker has connections of its own, and claims and stores units until none is left, as `dki-bench queue worker` does. It leaves
 * a run behind, under a name of its own; it prints, and never fails on a clock.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { BenchError } from '../../src/base/bench-error.ts';
import { QueueConnection } from '../../src/store/queue/queue-connection.ts';
import { QueueReader } from '../../src/store/queue/queue-reader.ts';
import { QueueStore } from '../../src/store/queue/queue-store.ts';
import type { QueuedPlan, QueueWorker } from '../../src/store/records/run-record.ts';
import { runScript, wholeNumber } from '../run-script.ts';

interface Spent {
  readonly claimMs: number[];
  readonly storeMs: number[];
}

async function timed<Result>(into: number[], call: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  const result = await call();
  into.push(performance.now() - start);
  return result;
}

/** Takes units until none is left, each of which took no time. */
async function work(url: string, run: string, planId: string, content: Buffer, spent: Spent): Promise<void> {
  await using connection = new QueueConnection(url);
  await using store = await QueueStore.open(connection, { creates: false });
  const { signal } = new AbortController();
  const worker = await store.enter(run, {} as QueueWorker);
  for (;;) {
    const claim = await timed(spent.claimMs, () => store.claim(run, worker, { reaps: true, signal }));
    if (claim === undefined) return;
    await timed(spent.storeMs, () => store.store(claim, planId, { content, turns: 1 }, signal));
  }
}

function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `${(sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1)} ms`;
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      queue: { type: 'string' },
      workers: { type: 'string', default: '8' },
      jobs: { type: 'string', default: '1000' },
      bytes: { type: 'string', default: '20000' },
    },
  });
  const url = values.queue ?? process.env['DKI_BENCH_QUEUE'];
  if (url === undefined) throw new BenchError('bad-option', 'no queue is named', 'give --queue postgres://…');
  const [workers, jobs, bytes] = (['workers', 'jobs', 'bytes'] as const).map((key) => wholeNumber(key, values[key], 1));
  await using connection = new QueueConnection(url);
  await using store = await QueueStore.open(connection, { creates: true });
  const name = `bench-queue-${randomUUID()}`;
  const planId = randomUUID();
  const units = Array.from({ length: jobs! }, (_, position) => ({ position, priority: 0 }));
  await store.plan(planId, { name } as QueuedPlan, units);
  const id = await new QueueReader(connection).idOf(name);
  // As compressed results are, random bytes cannot be compressed.
  const content = randomBytes(bytes!);
  const spent: Spent = { claimMs: [], storeMs: [] };
  const start = performance.now();
  await Promise.all(Array.from({ length: workers! }, () => work(url, id, planId, content, spent)));
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `${connection.address}: ${jobs!} jobs of ${bytes!} bytes by ${workers!} workers in ${seconds.toFixed(1)} s`,
  );
  console.log(`${(jobs! / seconds).toFixed(0)} jobs a second`);
  console.log(`claim: median ${quantile(spent.claimMs, 0.5)}, p95 ${quantile(spent.claimMs, 0.95)}`);
  console.log(`store: median ${quantile(spent.storeMs, 0.5)}, p95 ${quantile(spent.storeMs, 0.95)}`);
  console.log(`${availableParallelism()} cores, which the server shares with this process if it runs here`);
});
