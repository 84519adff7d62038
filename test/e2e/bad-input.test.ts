import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import Sqlite from 'better-sqlite3';
import { beforeAll, expect, it } from 'vitest';
import { freePort } from '../../src/base/free-port.ts';
import { ChatServer } from '../fixtures/chat-server.ts';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { tinyGguf, tinyHeader } from '../fixtures/tiny-gguf.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
const KEY = 'a-key-that-nobody-may-see';
const host = programIn(folder.path, { DKI_BENCH_JUDGE_KEY: KEY });

beforeAll(() => {
  const [content, createdAt] = ['My dog is Rex.', '2026-01-01T00:00:00Z'];
  const memory = { type: 'memory', userId: 'u', memoryId: 'm', content, createdAt };
  writeFileSync(folder.file('bad.jsonl'), `${JSON.stringify(memory)}\n{"type":"item","itemId":"q","userId":"u"}\n`);
  const item = { type: 'item', itemId: 'q', userId: 'u', answer: 'Rex', askedAt: '2026-02-01T00:00:00Z' };
  const long = JSON.stringify({ ...item, query: 'word '.repeat(4000), evidence: ['m'] });
  writeFileSync(folder.file('long.jsonl'), `${JSON.stringify(memory)}\n${long}\n`);
  spawnSync('mkfifo', [folder.file('pipe.jsonl')]);
  writeFileSync(folder.file('text.gguf'), 'this is no model');
  writeFileSync(folder.file('gemma.gguf'), tinyGguf(tinyHeader('gemma2')));
  // A sparse file: larger than any memory, and no bytes on the disk.
  const huge = openSync(folder.file('huge.gguf'), 'w');
  ftruncateSync(huge, totalmem() + 2 ** 30);
  closeSync(huge);
  const newer = new Sqlite(folder.file('newer.sqlite'));
  newer.pragma('application_id = 1');
  newer.exec('CREATE TABLE somebody_elses (x)');
  newer.close();
});

it.each([
  ['a bad line', ['--dataset', './bad.jsonl'], /bad\.jsonl:2: \w+ expected /],
  [
    'a question longer than the window',
    ['--dataset', './long.jsonl'],
    /long\.jsonl:2: item "q": the query alone takes \d+ tokens, but the window of 2048 leaves only \d+ for the prompt/,
  ],
  ['a data set that is not there', ['--dataset', './none.jsonl'], /^error: .*none\.jsonl/],
  ['a pipe as data set', ['--dataset', './pipe.jsonl'], /pipe\.jsonl: cannot be read: is a pipe or a device/],
  ['a model that is not there', ['--model', 'none.gguf'], /^error: .*none\.gguf/],
  ['a model that is none', ['--model', 'text.gguf'], /text\.gguf: not a (?:complete )?GGUF file/],
  [
    'an architecture whose KV is unknown',
    ['--model', 'gemma.gguf', '--arms', 'dki-blocks'],
    /KV layout of architecture gemma2 is not supported/,
  ],
  [
    'a model larger than memory',
    ['--model', 'huge.gguf'],
    /huge\.gguf: \d+ bytes, but only \d+ bytes of memory are free/,
  ],
  ['an unknown arm', ['--arms', 'rga'], /--arms: unknown arm "rga": did you mean rag\?/],
  ['an unknown suite', ['--suite', 'mian'], /--suite: unknown suite "mian": did you mean main\?/],
  ['an unknown option', ['--sede', '3'], /unknown option '--sede'\n {2}hint: did you mean --seed\?/],
  ['a run that nobody made', ['--resume', 'nobody'], /--resume nobody: there is no such run/],
  [
    'working memory that is not there',
    ['--retriever', 'tiered', '--hot', 'redis://me:secret@127.0.0.1:1'],
    /redis:\/\/127\.0\.0\.1:1: connecting failed: connect ECONNREFUSED/,
  ],
  [
    'long-term memory that is not there',
    ['--retriever', 'tiered', '--cold', 'postgres://me:secret@127.0.0.1:1/x'],
    /postgres:\/\/127\.0\.0\.1:1\/x: opening long-term memory failed/,
  ],
  ['a store that has no address', ['--retriever', 'tiered', '--hot', 'secret'], /--hot: not a valid server URL/],
  // Found before any model is opened.
  ['the database of another program', ['--db', 'newer.sqlite', '--model', 'text.gguf'], /newer\.sqlite/],
])('%s ends with 2, one line and what to do, and leaves nothing behind', async (_, words, message) => {
  const ended = await host.run('bench', '--quiet', '--out', 'reports', ...words);
  expectMistake(ended, message);
  expect(ended.stderr).not.toContain('secret');
  expect(existsSync(folder.file('reports'))).toBe(false);
});

it.each(['csv', 'jsonl', 'locomo'])('a pipe to be converted from %s is named', async (from) => {
  const ended = await host.run('data', 'convert', 'pipe.jsonl', '--from', from, '--out', 'new.jsonl');
  expectMistake(ended, /pipe\.jsonl: cannot be read: is a pipe or a device/);
});

it('a run with a judge that is not there, or refuses the key, ends before its first turn', async () => {
  const few = ['--users', '10', '--limit', '8', '--arms', 'none,rag'];
  await using server = await ChatServer.start(() => ({
    status: 401,
    body: `{"error":{"message":"wrong key ${KEY}"}}`,
  }));
  for (const [address, why] of [
    [
      `http://127.0.0.1:${await freePort()}`,
      'cannot be reached (ECONNREFUSED)\n  hint: start the server, or correct --judge\n',
    ],
    [server.address, 'refuses access (401)\n  hint: correct DKI_BENCH_JUDGE_KEY\n'],
  ] as const) {
    const judge = ['--judge-model', 'grader', '--judge', address];
    const ended = await host.run('bench', ...few, ...judge, '--quiet', '--db', 'judged.sqlite');
    expectMistake(ended, `error: judge ${address}/v1/chat/completions: ${why}`);
  }
  expect((await host.run('tables', '--db', 'judged.sqlite')).stderr).toContain('holds no run');
});
