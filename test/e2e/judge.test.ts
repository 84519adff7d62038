import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChatServer } from '../fixtures/chat-server.ts';
import { freePort } from '../../src/base/free-port.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const KEY = 'a-key-that-nobody-may-see';
const few = ['--limit', '8', '--arms', 'none,rag'];

const host = programIn(temporaryFolder().path, { DKI_BENCH_JUDGE_KEY: KEY });
let server: ChatServer;
beforeAll(async () => {
  server = await ChatServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const bench = (...words: readonly string[]) => host.run('bench', '--judge-model', 'grader', ...words);

it('ends before the first turn where there is no judge to ask', async () => {
  const port = await freePort();
  const elsewhere = [...few, '--quiet', '--db', 'none.sqlite'];
  expectMistake(
    await bench('--judge', `http://127.0.0.1:${port}`, ...elsewhere),
    `error: judge http://127.0.0.1:${port}/v1/chat/completions: cannot be reached (ECONNREFUSED)\n  hint: start the server, or correct --judge\n`,
  );
  server.answers = () => ({ status: 401, body: `{"error":{"message":"wrong key ${KEY}"}}` });
  expectMistake(
    await bench('--judge', server.address, ...elsewhere),
    `error: judge ${server.address}/v1/chat/completions: refuses access (401)\n  hint: correct DKI_BENCH_JUDGE_KEY\n`,
  );
  const tables = await host.run('tables', '--db', 'none.sqlite');
  expect(tables.stderr).toContain('holds no run');
});
