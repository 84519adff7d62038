import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { turns } from '../../src/store/schema.ts';
import { ofDebian } from '../fixtures/debian-postgres.ts';
import { noMounts, ownMounts } from '../fixtures/own-mounts.ts';
import { QueueRuns } from '../fixtures/queue-run.ts';
import { program, type RunningProcess } from '../fixtures/run-process.ts';

/** KV of which some must go to the disk. */
const options = ['--users', '10', '--limit', '12', '--arms', 'rag,rag-cached,dki', '--kv-bytes', '32KiB'];
/** A user has five turns or so: this ends one of them in the middle. */
const INTO_A_TURN_MS = 150;

/** The environment of a process whose clock is wrong by so many seconds, and goes on from there. */
function wrongClock(seconds: number): Readonly<Record<string, string>> {
  const libraries = readdirSync('/usr/lib').map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`);
  const library = ofDebian('libfaketime', () => libraries.find((file) => existsSync(file)));
  return { LD_PRELOAD: library, FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`, DONT_FAKE_MONOTONIC: '1' };
}

/** A way to a port of this machine that can stop letting anything through, and break no connection by it. */
class StoppingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStopped = false;

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const server = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (data) => to.write(data)).on('close', () => to.destroy());
        // Whoever is at either end was killed, or has ended.
        from.on('error', () => to.destroy());
        if (this.#isStopped) from.pause();
      }
    });
  }

  static async to(target: number): Promise<StoppingProxy> {
    const proxy = new StoppingProxy(target);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.pause();
  }

  goOn(): void {
    this.#isStopped = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

let runs: QueueRuns;
beforeAll(async () => void (runs = await QueueRuns.start(options)));
afterAll(() => runs[Symbol.asyncDispose]());

/** Waits until a worker has a unit, of those of a user. */
const heldBy = ({ child }: RunningProcess) => runs.heldUnit(({ pid, position }) => pid === child.pid && position >= 0);

/** Failed attempts at units of a run, by their reason. */
async function reasonsOf(name: string): Promise<string[]> {
  const rows = await runs.server.rows<{ reason: string }>(
    `SELECT f.reason FROM dki_bench_queue.failures f JOIN dki_bench_queue.runs r ON r.id = f.run_id WHERE r.name = '${name}'`,
  );
  return rows.map(({ reason }) => reason);
}

it('a worker that is killed in a turn loses nothing', async () => {
  await runs.plan('one-killed');
  const [killed, other] = [runs.worker('one-killed'), runs.worker('one-killed')];
  const held = await heldBy(killed);
  await wait(INTO_A_TURN_MS);
  killed.child.kill('SIGKILL');
  expect(await killed.ended).toMatchObject({ code: null });
  expect(await other.ended).toMatchObject({ code: 0 });
  expect(await reasonsOf('one-killed')).toEqual(['its worker was silent for 30 s']);
  await runs.expectWhole('one-killed');
  const [asked] = await runs.server.rows<{ attempt: number }>(
    `SELECT attempt FROM dki_bench_queue.bundles b JOIN dki_bench_queue.runs r ON r.id = b.run_id
    WHERE r.name = 'one-killed' AND position = ${held.position}`,
  );
  expect(asked).toEqual({ attempt: 2 });
});

it('all workers that are killed lose nothing: one that is started later asks their users', async () => {
  await runs.plan('all-killed');
  const workers = [runs.worker('all-killed'), runs.worker('all-killed')];
  for (const worker of workers) {
    await heldBy(worker);
    worker.child.kill('SIGKILL');
  }
  await Promise.all(workers.map(({ ended }) => ended));
  expect(await runs.worker('all-killed').ended).toMatchObject({ code: 0 });
  await runs.expectWhole('all-killed');
});

it.each(['SIGINT', 'SIGTERM'] as const)('%s gives the user back at once', async (signal) => {
  const name = `by-${signal.toLowerCase()}`;
  await runs.plan(name);
  const ended = runs.worker(name);
  const { position } = await heldBy(ended);
  ended.child.kill(signal);
  expect(await ended.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('interrupted') as string });
  const held = `SELECT FROM dki_bench_jobs.job WHERE state = 'active' AND data = '{"position": ${position}}'`;
  expect([await runs.server.rows(held), await reasonsOf(name)]).toEqual([[], []]);
  expect(await runs.worker(name).ended).toMatchObject({ code: 0 });
  await runs.expectWhole(name);
});

it('a database that is killed is waited for', async () => {
  await runs.plan('database-killed');
  const worker = runs.worker('database-killed');
  await heldBy(worker);
  await runs.server.kill();
  await wait(3000);
  await runs.server.restart();
  expect(await worker.ended).toMatchObject({ code: 0 });
  expect(await reasonsOf('database-killed')).toEqual([]);
  await runs.expectWhole('database-killed');
});

it('a network that hangs costs a worker its user, and no turn', async () => {
  await runs.plan('network');
  await using proxy = await StoppingProxy.to(runs.server.port);
  const cut = runs.worker('network', { port: proxy.port });
  await heldBy(cut);
  proxy.stop();
  expect(await runs.worker('network').ended).toMatchObject({ code: 0 });
  proxy.goOn();
  expect(await cut.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/another worker/) as string });
  expect(await reasonsOf('network')).toEqual(['its worker was silent for 30 s']);
  await runs.expectWhole('network');
});

it('of two workers on one job the one that lost it is refused', async () => {
  await runs.plan('two-on-one');
  const slow = runs.worker('two-on-one');
  await heldBy(slow);
  slow.child.kill('SIGSTOP');
  expect(await runs.worker('two-on-one').ended).toMatchObject({ code: 0 });
  slow.child.kill('SIGCONT');
  expect(await slow.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/another worker/) as string });
  await runs.expectWhole('two-on-one');
});

it.each([3600, -3600])('a clock that is wrong by %d s changes nothing', async (seconds) => {
  const name = seconds > 0 ? 'clock-ahead' : 'clock-behind';
  await runs.plan(name);
  const wrong = runs.worker(name, { environment: wrongClock(seconds) });
  await heldBy(wrong);
  const right = runs.worker(name);
  expect((await Promise.all([wrong.ended, right.ended])).map(({ code }) => code)).toEqual([0, 0]);
  expect(await reasonsOf(name)).toEqual([]);
  await runs.expectWhole(name);
  // Otherwise no clock was wrong.
  using database = openDatabase({ path: runs.folder.file('dki-bench.sqlite') });
  const { id } = new RunRepository(database).findByName(name)!;
  const written = database.query.select({ at: turns.createdAt }).from(turns).where(eq(turns.runId, id)).all();
  const errors = written.map(({ at }) => Math.abs(Date.now() - at));
  expect(Math.max(...errors) / 1000).toBeGreaterThan(3000);
});

it('a disk that is full ends its worker with what to do, and costs no turn', async ({ skip }) => {
  skip(ownMounts === undefined, noMounts);
  await runs.plan('disk');
  const beside = 'mkdir -p small && mount -t tmpfs -o size=200k tmpfs small && TMPDIR=$PWD/small exec "$@"';
  const command = [...ownMounts!, 'sh', '-c', beside, 'sh', ...program];
  const stderr = expect.stringMatching(/the KV state could not be written\n {2}hint: free some space/) as string;
  expect(await runs.worker('disk', { command }).ended).toMatchObject({ code: 2, stderr });
  expect(await reasonsOf('disk')).toEqual([expect.stringContaining('could not be written')]);
  expect(await runs.worker('disk').ended).toMatchObject({ code: 0 });
  await runs.expectWhole('disk');
});
