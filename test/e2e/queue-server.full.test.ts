import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { FakeOpenAiServer } from '../fixtures/fake-openai-server/fake-openai-server.ts';
import { QueueRuns } from '../fixtures/queue-run.ts';
import { smallDataset } from '../fixtures/small-run.ts';

const startServer = async (): Promise<FakeOpenAiServer> =>
  FakeOpenAiServer.start(await fakeAdapter.opener({}).open({ model: 'fake', contextTokens: 1040 }));

it('a worker takes users with a server of its own, and a file that it brings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-test-'));
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  const data = join(folder, 'small.jsonl');
  writeFileSync(data, smallDataset(['ann', 'bob', 'eve']));
  await using planning = await startServer();
  await using working = await startServer();
  const asked = ['--dataset', data, '--arms', 'none,rag,rag-cached', '--engine', 'openai'];
  await using runs = await QueueRuns.start([...asked, '--engine-url', planning.url]);
  expect(await runs.plan('served')).toMatchObject({ code: 0 });
  const before = planning.requests.length;

  const homeless = await runs.worker('served', {}, '--engine-url', working.url).ended;
  expect([homeless.code, homeless.stderr]).toEqual([
    2,
    expect.stringMatching(/^error: [^\n]*small\.jsonl[^\n]*\n {2}hint: /m),
  ]);
  expect(await runs.worker('served', {}, '--engine-url', working.url, '--dataset', data).ended).toMatchObject({
    code: 0,
  });
  expect(planning.requests.length).toBe(before);
  const { environment } = (await runs.expectWhole('served')).run;
  expect(JSON.stringify(environment)).not.toContain(working.url);
});
