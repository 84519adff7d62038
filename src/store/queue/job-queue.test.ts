import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresServer } from '../../../test/fixtures/postgres-server.ts';
import { openJobQueue } from './job-queue.ts';
import { QueueConnection } from './queue-connection.ts';

const RUN = 'a-run';
const ATTEMPTS = 6;

let server: PostgresServer;
beforeAll(async () => void (server = await PostgresServer.start()));
afterAll(async () => server[Symbol.asyncDispose]());

/** A unit that failed may be taken at once, not after its pause. */
async function endPauses(connection: QueueConnection): Promise<void> {
  await connection.transaction(({ query }) => query('UPDATE dki_bench_jobs.job SET start_after = now()'));
}

test('one process puts units, another takes them by priority; one that failed six times is given up, and requeued by a plan', async () => {
  await using connection = new QueueConnection(server.url);
  await using maker = await openJobQueue(connection, { creates: true });
  await maker.create(RUN);
  await maker.create(RUN);
  const units = [1, 2].map((position) => ({ position, priority: position }));
  await connection.transaction((transaction) => maker.put(RUN, units, transaction));

  await using worker = await openJobQueue(connection, { creates: false });
  expect(await worker.count(RUN)).toEqual({ open: 2, underWay: 0 });
  const inTransaction = connection.transaction.bind(connection);
  const take = () => inTransaction((transaction) => worker.take(RUN, transaction));
  const second = await take();
  expect(second).toMatchObject({ position: 2, priority: 2, retryCount: 0 });
  expect(await worker.count(RUN)).toEqual({ open: 2, underWay: 1 });
  const complete = () => inTransaction((transaction) => worker.complete(second!, transaction));
  expect([await complete(), await complete()]).toEqual([true, false]);
  expect(await worker.count(RUN)).toEqual({ open: 1, underWay: 0 });

  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const taken = await take();
    expect(taken).toMatchObject({ position: 1, retryCount: attempt - 1 });
    expect(await take()).toBeUndefined();
    const fail = () => inTransaction((transaction) => worker.fail(taken!, 'no space', transaction));
    expect([await fail(), await fail()]).toEqual([true, false]);
    expect((await worker.count(RUN)).open).toBe(attempt < ATTEMPTS ? 1 : 0);
    await endPauses(connection);
  }
  expect(await take()).toBeUndefined();
  const putAgain = () => inTransaction((transaction) => maker.putAgain(RUN, transaction));
  expect([await putAgain(), await putAgain()]).toEqual([1, 0]);
  const again = await take();
  expect(again).toMatchObject({ position: 1, priority: 1, retryCount: 0 });
  await inTransaction((transaction) => worker.giveBack(again!, transaction));
  await inTransaction((transaction) => worker.giveBack(again!, transaction));
  expect(await take()).toMatchObject({ position: 1, priority: 1, retryCount: 0 });
  expect(await take()).toBeUndefined();
  expect(
    await inTransaction(({ query }) => query(`SELECT FROM dki_bench_jobs.job WHERE name = '${RUN}_failed'`)),
  ).toEqual([]);
});

test('tables of another version are refused with a hint', async () => {
  await using connection = new QueueConnection(server.url);
  await using _maker = await openJobQueue(connection, { creates: true });
  await connection.transaction(({ query }) => query('UPDATE dki_bench_jobs.version SET version = 24'));
  for (const creates of [true, false]) {
    await expect(openJobQueue(connection, { creates })).rejects.toMatchObject({
      code: 'database',
      message: expect.stringMatching(
        /^postgres:\/\/127\.0\.0\.1:\d+\/postgres: its job tables cannot be opened, probably since another version made them: [^\n]+$/,
      ),
      hint: expect.stringContaining('DROP SCHEMA'),
    });
  }
});
