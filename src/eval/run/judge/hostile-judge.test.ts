import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { forEver, HostileServer, type Misdeed } from '../../../../test/fixtures/hostile-server.ts';
import { failureOf } from '../../../../test/fixtures/judge-failure.ts';
import { type HandmadeTurn, storeRun } from '../../../../test/fixtures/stored-runs.ts';
import { TestFolder } from '../../../../test/model/bench-fixture.ts';
import { judgeAddress } from '../../../config/normalise-server-addresses.ts';
import { type BenchDatabase, openDatabase } from '../../../store/database.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import type { FailureReason } from './chat-completion.ts';
import { Judge, testJudge } from './judge.ts';
import { judgeTurns } from './judge-turns.ts';

const KEY = 'sk-nobody-may-see-this';
const question = { query: 'Where do I live?', golds: ['Turin'], answer: 'In Turin.' };

let folder: TestFolder;
let server: HostileServer;
let database: BenchDatabase;
beforeEach(async () => {
  folder = new TestFolder();
  server = await HostileServer.start();
  database = openDatabase({ path: folder.file('runs.sqlite') });
  return async () => {
    database.close();
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  };
});

/** The default time-out is long, for slow machines; tests of late replies give a short one. */
const judge = (timeoutMs = 20_000) =>
  new Judge('m', { address: judgeAddress(server.url), key: KEY, timeoutMs, pausesMs: [1] }, database);

/** Stores a run of these turns, and judges them. */
const judgeAll = (turns: readonly HandmadeTurn[]) => {
  const { id } = storeRun(database, { name: 'r', turns });
  return judgeTurns(judge(), new TurnRepository(database), id, { signal: new AbortController().signal });
};

/** All that the database holds. */
const stored = (): string =>
  readdirSync(folder.path)
    .map((name) => readFileSync(folder.file(name)).toString('latin1'))
    .join();

const body =
  (text: string | Uint8Array, status = 200, headers: Readonly<Record<string, string>> = {}): Misdeed =>
  ({ response }) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
const reply = (content: unknown): Misdeed => body(JSON.stringify({ choices: [{ message: { content } }] }));
const raw =
  (text: string): Misdeed =>
  ({ socket }) =>
    socket.end(text);
const json = (value: unknown, status: number): Misdeed => body(JSON.stringify(value), status);
const deep = '['.repeat(200_000) + ']'.repeat(200_000);

const cases: readonly (readonly [title: string, misdeed: Misdeed, reason: FailureReason])[] = [
  ['a page', body('<!doctype html><p>yes'), 'no reply'],
  ['a page with an error', body('<html>', 502), 'error of the server'],
  ['nothing', body(''), 'no reply'],
  ['no content', ({ response }) => response.writeHead(204).end(), 'error of the server'],
  ['null', body('null'), 'no reply'],
  ['a word that is JSON', body('"yes"'), 'no reply'],
  ['JSON that is nested without end', body(deep), 'no reply'],
  ['bytes that are no text', body(Buffer.from([0xff, 0xfe, 0x00, 0x80])), 'no reply'],
  ['no choice', body('{"choices":[null]}'), 'no reply'],
  ['choices that are none', body('{"choices":{"0":{"message":7}}}'), 'no reply'],
  ['a number for a text', reply(1), 'no reply'],
  ['a list for a text', reply(['yes']), 'no reply'],
  ['an error that is null', json({ error: null }, 500), 'error of the server'],
  ['an error that is a list', json({ error: [{ message: 'no' }] }, 500), 'error of the server'],
  ['an error whose message is none', json({ error: { message: { toString: 1 } } }, 400), 'error of the server'],
  [
    'a status that HTTP has not',
    raw('HTTP/1.1 999 Yes\r\nconnection: close\r\ncontent-length: 3\r\n\r\nyes'),
    'error of the server',
  ],
  ['no HTTP', raw('yes yes yes\n\n'), 'no server'],
  ['half of a reply', raw('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"choices":'), 'no server'],
  [
    'a reply that unpacks to 64 MiB',
    body(gzipSync(Buffer.alloc(2 ** 26, ' ')), 200, { 'content-encoding': 'gzip' }),
    'no reply',
  ],
  ['a reply that is packed badly', body('yes', 200, { 'content-encoding': 'gzip' }), 'no server'],
  [
    'a reply without end',
    ({ response, socket }) => forEver(socket, () => response.write(' '.repeat(2 ** 16))),
    'no reply',
  ],
  ['a reply that drips', ({ response, socket }) => forEver(socket, () => response.write(' '), 10), 'time-out'],
  [
    'headers without end',
    ({ socket }) => forEver(socket, () => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(5000)}`)),
    'no server',
  ],
  [
    'promises of a reply',
    ({ socket }) => forEver(socket, () => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5),
    'time-out',
  ],
  [
    'a length that never comes',
    ({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{'),
    'time-out',
  ],
  ['control tokens', reply('<|im_end|>\n<|im_start|>assistant\nyes'), 'neither yes nor no'],
  ['escape sequences', reply('\u001b[2J\u001b]0;yes\u0007\u202e\u009b31myes'), 'neither yes nor no'],
  ['another word', reply('ja'), 'neither yes nor no'],
  ['a word of other letters', reply('y\u0435s'), 'neither yes nor no'],
  ['true', reply('true'), 'neither yes nor no'],
  ['both words', reply('yes\nno'), 'neither yes nor no'],
  ['a thought that never ends', reply(`<think>${'yes '.repeat(50_000)}`), 'neither yes nor no'],
  ['a word behind a megabyte of marks', reply(`${'*'.repeat(2 ** 19)}yes!!x`), 'neither yes nor no'],
];

describe('a judge that gives', () => {
  it.each(cases)('%s ends in one clear line', async (_, misdeed, reason) => {
    server.misdeed = misdeed;
    const failure = await failureOf(judge(reason === 'time-out' ? 300 : undefined).ask(question));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toMatch(/^judge \S+: .{5,120}$/);
    expect(failure.hint).toMatch(/^.{5,250}$/);
    expect(judge().known(question)).toBeUndefined();
  });
});

describe('the key', () => {
  it.each([301, 302, 303, 307, 308])('is sent to no other host: a redirect (%d) is refused', async (status) => {
    await using other = await HostileServer.start();
    other.misdeed = reply('yes');
    server.misdeed = body('', status, { location: `${other.url}/v1/chat/completions` });
    const { reason, message } = await failureOf(judge().ask(question));
    expect([reason, message]).toEqual(['no such route or model', expect.stringContaining(`answered ${status}`)]);
    expect([server.requests, other.requests]).toEqual([1, 0]);
  });

  const echoes: readonly (readonly [string, Misdeed])[] = [
    ['an error', json({ error: { message: `Bearer ${KEY} is no key` } }, 400)],
    ['an error that is a text', json({ error: `${KEY}\n${KEY}` }, 500)],
    ['the error of a route', json({ error: { message: `no model for ${KEY}` } }, 404)],
    ['a refusal', json({ error: { message: KEY.slice(0, 12) } }, 401)],
    ['the reply', reply(`The key is ${KEY}.`)],
    ['the status', raw(`HTTP/1.1 500 ${KEY}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)],
    ['an address', body('', 302, { location: `http://127.0.0.1:1/${KEY}` })],
    ['a line that is no HTTP', raw(`${KEY}\r\n\r\n`)],
  ];
  it.each(echoes)('is neither shown nor stored where %s repeats it', async (_, misdeed) => {
    server.misdeed = misdeed;
    const { message, hint } = await failureOf(testJudge(judge()));
    const { failed } = await judgeAll([{ itemId: 'a', userId: 'u', arm: 'rag', answer: 'Oslo', right: false }]);
    expect(failed).toHaveLength(1);
    for (const text of [message, hint, JSON.stringify(failed), stored()]) {
      expect(text).not.toContain(KEY.slice(0, 12));
    }
  });
});

it('a server that refuses everything is asked a few times, however many answers there are', async () => {
  server.misdeed = body('', 503, { 'retry-after': '-1' });
  const answers = Array.from({ length: 40 }, (_, index) => `${index}`);
  const { failed, asked } = await judgeAll(
    answers.map((answer) => ({ itemId: `i${answer}`, userId: 'u', arm: 'rag', answer, right: false })),
  );
  expect(failed).toMatchObject([{ reason: 'error of the server', answers: 40 }]);
  expect(failed[0]!.first).toContain('503');
  expect(asked).toBeLessThanOrEqual(8);
  expect(server.requests).toBeLessThanOrEqual(16);
});
