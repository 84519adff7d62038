import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { storeRun } from '../../../test/fixtures/stored-runs.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';
import { RunRepository, type RunUpdate } from '../../store/run-repository.ts';
import { inspectApp } from './inspect-app.ts';
import { serverLinks as links } from './server-links.ts';
import { type InspectServer, startServer } from './start-server.ts';

const run = 'under <way>';
const hostile = '<script>alert("x")</script>\u202e <img src=x onerror=alert(1)>\r\n\nevent: end';

let folder: string;
let database: BenchDatabase;
let server: InspectServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dki-bench-watch-'));
  const path = join(folder, 'bench.sqlite');
  {
    using writable = openDatabase({ path });
    const turn = { userId: 'ann', arm: 'rag', right: true };
    const turns = [{ ...turn, itemId: 'i-1' }, { ...turn, itemId: 'i-2', error: hostile }]; // prettier-ignore
    storeRun(writable, { name: run, turns, status: 'running' });
  }
  database = openDatabase({ path, readOnly: true });
  const onBug = (error: Error) => {
    throw error;
  };
  server = await startServer(inspectApp({ database, onBug }), 0);
  return async () => {
    await server.close();
    database.close();
    rmSync(folder, { recursive: true });
  };
});

/** Changes the run in the file, as the process of a bench does. */
function update(change: RunUpdate): void {
  using writable = openDatabase({ path: database.path });
  const runs = new RunRepository(writable);
  runs.update(runs.findByName(run)!.id, change);
}

const asked = (address: string, signal = AbortSignal.timeout(60_000)) =>
  fetch(new URL(address, server.url), { signal });
let open: AbortController;
beforeEach(() => {
  open = new AbortController();
});
afterEach(() => open.abort());

it('has a page of the state, which the pages of a run lead to before it has results', async () => {
  for (const address of [links.runs(), links.run(run)]) {
    expect(await (await asked(address)).text()).toContain(`href="${links.watch(run)}"`);
  }
  const text = await (await asked(links.watch(run))).text();
  expect(text).toContain('100 % · 2 of 2 turns');
  expect(text).toContain('No verdict: most checks need the end of the run');
  expect(text).toContain(`&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;`);
  expect(text).not.toMatch(/\u202e|<img src=x|\sstyle=/);
  const missing = await asked(links.watch('nobody'));
  expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('there is no run')]);
});

it('tells each state once, until the run has ended: text of errors is data there, too', async () => {
  const response = await asked(links.watchEvents(run));
  const headers = ['content-type', 'cache-control', 'x-content-type-options'].map((name) => response.headers.get(name));
  expect([response.status, ...headers]).toEqual([200, 'text/event-stream', 'no-store', 'nosniff']);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  let told = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    if (told === '') update({ status: 'finished', finishedAt: Date.now() });
    told += chunk;
  }
  expect(told.match(/^event:.*$/gm)).toEqual(['event: state', 'event: end']);
  expect(told).toContain('All turns are there: the last checks and the report follow.');
  expect(told).not.toMatch(/\u202e|<img src=x|<script/);
});

it('serves so many pages at one time, and one more when one has gone', async () => {
  const watching = await Promise.all(Array.from({ length: 16 }, () => asked(links.watchEvents(run), open.signal)));
  expect(watching.map(({ status }) => status)).toEqual(watching.map(() => 200));
  const refused = await asked(links.watchEvents(run));
  expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('16 pages watch runs')]);
  await watching[0]!.body!.cancel();
  const served = async () => {
    const { status, body } = await asked(links.watchEvents(run), open.signal);
    if (status !== 200) await body!.cancel();
    return status === 200;
  };
  await vi.waitUntil(served, { timeout: 60_000 });
});

it('ends with the server, whoever watches', async () => {
  const response = await asked(links.watchEvents(run));
  const reader = response.body!.getReader();
  await reader.read();
  await server.close();
  await expect(reader.read()).rejects.toThrow();
});

it('has no events under a name that there is not', async () => {
  expect((await asked(links.watchEvents('nobody'))).status).toBe(404);
});
