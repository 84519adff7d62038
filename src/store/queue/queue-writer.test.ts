import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresServer } from '../../../test/fixtures/postgres-server.ts';
import type { QueuedPlan, QueueWorker } from '../records/run-record.ts';
import { QueueConnection } from './queue-connection.ts';
import { QueueWriter } from './queue-writer.ts';

let server: PostgresServer;
beforeAll(async () => void (server = await PostgresServer.start()));
afterAll(async () => server[Symbol.asyncDispose]());

test('only the worker that holds a unit stores its results, and only for the plan of the run', async () => {
  await using connection = new QueueConnection(server.url);
  await using queue = await QueueWriter.open(connection, { creates: true });
  await queue.plan('plan-1', { name: 'mine' } as QueuedPlan, [{ position: 7, priority: 1 }]);
  const run = (await connection.rows<{ id: string }>('SELECT id FROM dki_bench_queue.runs', []))[0]!.id;
  const [slow, other] = [await queue.enter(run, {} as QueueWorker), await queue.enter(run, {} as QueueWorker)];
  const { signal } = new AbortController();
  const lost = await queue.claim(run, slow, { reaps: false, signal });
  expect(lost).toMatchObject({ position: 7 });
  expect(await queue.beat(slow, lost)).toBe(true);

  await connection.rows(`UPDATE dki_bench_jobs.job SET heartbeat_on = now() - interval '1 hour'`, []);
  await queue.claim(run, other, { reaps: true, signal });
  expect(await connection.rows('SELECT worker, position, reason FROM dki_bench_queue.failures', [])).toEqual([
    { worker: slow, position: 7, reason: 'its worker was silent for 30 s' },
  ]);
  await connection.rows('UPDATE dki_bench_jobs.job SET start_after = now()', []);
  const held = await queue.claim(run, other, { reaps: false, signal });
  expect(held).toMatchObject({ position: 7, id: lost!.id });
  expect([await queue.beat(slow, lost), await queue.beat(other, held)]).toEqual([false, true]);

  const bundle = { content: Buffer.from('results'), turns: 1 };
  expect(await queue.store(lost!, { worker: slow, planId: 'plan-1' }, bundle, signal)).toBe('stale');
  await expect(queue.store(held!, { worker: other, planId: 'plan-2' }, bundle, signal)).rejects.toThrow(
    'results of another plan are refused',
  );
  expect(await connection.rows('SELECT worker FROM dki_bench_queue.bundles', [])).toEqual([]);
  expect(await queue.store(held!, { worker: other, planId: 'plan-1' }, bundle, signal)).toBe('stored');
  expect(await connection.rows('SELECT worker FROM dki_bench_queue.bundles', [])).toEqual([{ worker: other }]);
});
