import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { FakeOpenAiServer } from '../fixtures/fake-openai-server/fake-openai-server.ts';
import { QueueRuns } from '../fixtures/queue-run.ts';
import { smallDataset } from '../fixtures/small-run.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const startServer = async (): Promise<FakeOpenAiServer> =>
  FakeOpenAiServer.start(await fakeAdapter.opener({}).open({ model: 'fake', contextTokens: 1040 }));

it('a worker takes users with a server of its own, and a file that it brings', async () => {
  using folder = new TestFolder();
  const data = folder.file('small.jsonl');
  writeFileSync(data, smallDataset(['ann', 'bob', 'eve']));
  await using planning = await startServer();
  await using working = await startServer();
  const asked = ['--dataset', data, '--arms', 'none,rag,rag-cached', '--engine', 'openai'];
  await using runs = await QueueRuns.start([...asked, '--engine-url', planning.url]);
  expect(await runs.plan('served')).toMatchObject({ code: 0 });
  const before = planning.requests.length;

  const worker = (...more: readonly string[]) => runs.worker('served', {}, '--engine-url', working.url, ...more).ended;
  const stderr = expect.stringMatching(/^error: [^\n]*small\.jsonl[^\n]*\n {2}hint: /m) as string;
  expect(await worker()).toMatchObject({ code: 2, stderr });
  expect(await worker('--dataset', data)).toMatchObject({ code: 0 });
  expect(planning.requests.length).toBe(before);
  const { environment } = (await runs.expectWhole('served')).run;
  expect(JSON.stringify(environment)).not.toContain(working.url);
});
