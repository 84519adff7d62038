/**
 * Measures jobs per second of a queue, without turns: `npm run perf -- queue --queue postgres://… --workers 8 --jobs 1000 --bytes 20000`.
 * Each worker has its own connections, and claims and stores jobs until none is left, as `dki-bench queue worker` does. The run stays
 * in the queue under a new name.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { BenchError } from '../../src/base/bench-error.ts';
import { quantiles } from '../../src/eval/analysis/statistics/estimate-mean.ts';
import { QueueConnection } from '../../src/store/queue/queue-connection.ts';
import { SCHEMA } from '../../src/store/queue/queue-schema.ts';
import { QueueWriter } from '../../src/store/queue/queue-writer.ts';
import type { QueuedPlan, QueueWorker } from '../../src/store/records/run-record.ts';
import { readOptions, runScript, wholeNumbers } from '../run-script.ts';

/** Elapsed times, ms. */
const times = { claim: [] as number[], store: [] as number[] };

async function timed<Result>(name: keyof typeof times, call: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  const result = await call();
  times[name].push(performance.now() - start);
  return result;
}

await runScript(async () => {
  const values = readOptions({ workers: '8', jobs: '1000', bytes: '20000' }, ['queue']);
  const url = values.queue ?? process.env['DKI_BENCH_QUEUE'];
  if (url === undefined) throw new BenchError('bad-option', 'no queue is named', 'give --queue postgres://…');
  const { workers, jobs, bytes } = wholeNumbers(values, { workers: 1, jobs: 1, bytes: 1 });
  await using connection = new QueueConnection(url);
  await using writer = await QueueWriter.open(connection, { creates: true });
  const [name, planId] = [`bench-queue-${randomUUID()}`, randomUUID()];
  const units = Array.from({ length: jobs }, (_, position) => ({ position, priority: 0 }));
  await writer.plan(planId, { name } as QueuedPlan, units);
  const [planned] = await connection.rows<{ id: string }>(`SELECT id FROM ${SCHEMA}.runs WHERE name = $1`, [name]);
  const run = planned!.id;
  // Random bytes cannot be compressed, as compressed results cannot.
  const content = randomBytes(bytes);
  const work = async (): Promise<void> => {
    await using own = new QueueConnection(url);
    await using claims = await QueueWriter.open(own, { creates: false });
    const { signal } = new AbortController();
    const worker = await claims.enter(run, {} as QueueWorker);
    for (;;) {
      const claim = await timed('claim', () => claims.claim(run, worker, { reaps: true, signal }));
      if (claim === undefined) return;
      await timed('store', () => claims.store(claim, { worker, planId }, { content, turns: 1 }, signal));
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: workers }, work));
  const seconds = (performance.now() - start) / 1000;
  console.log(`${connection.address}: ${jobs} jobs of ${bytes} bytes by ${workers} workers in ${seconds.toFixed(1)} s`);
  console.log(`${(jobs / seconds).toFixed(0)} jobs per second`);
  for (const [step, all] of Object.entries(times)) {
    const { p50, p95 = Number.NaN } = quantiles(all);
    console.log(`${step}: median ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
  }
  console.log(`${availableParallelism()} cores, which a local server shares with this process`);
});
