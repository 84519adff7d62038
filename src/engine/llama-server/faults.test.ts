import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { FakeLlamaServer } from '../../../test/fixtures/fake-llama-server/fake-llama-server.ts';
import type { Misbehaviour, SeenRequest } from '../../../test/fixtures/fake-server.ts';
import { servedModel } from '../../config/bench-config.ts';
import { freePort } from '../../base/free-port.ts';
import type { EngineSession } from '../engine-session.ts';
import type { Engine } from '../engine.ts';
import { ServerConnection } from '../http/server-connection.ts';
import { meterDifference } from '../token-meter.ts';
import { LlamaServerEngine } from './llama-server-engine.ts';

const PATIENCE = { waitMs: 900, silenceMs: 1500, settleMs: 300 };
const slotsFolder = mkdtempSync(join(tmpdir(), 'dki-bench-faults-'));
afterAll(() => rmSync(slotsFolder, { recursive: true }));

let misbehave: ((request: SeenRequest) => Misbehaviour | undefined) | undefined;
let server: FakeLlamaServer;

async function startServer(model = 'fake', port = 0): Promise<FakeLlamaServer> {
  const engine = await fakeAdapter.opener({}).open({ model, sessions: 2, contextTokens: 512 });
  return FakeLlamaServer.start(engine, { slotsFolder, misbehave: (request) => misbehave?.(request) }, port);
}

function openEngine(url = server.url): Promise<Engine> {
  const connection = new ServerConnection({ url, program: 'llama-server' }, PATIENCE);
  return LlamaServerEngine.open(
    { connection, name: servedModel, file: undefined, slotsFolder, close: () => Promise.resolve() },
    { model: servedModel, sessions: 2 },
  );
}

/** Misbehaves with the first requests of a route. */
function atFirst(path: string, times: number, fault: Misbehaviour): void {
  let left = times;
  misbehave = (request) => (request.path.startsWith(path) && left-- > 0 ? fault : undefined);
}

const always = (path: string, fault: Misbehaviour): void => atFirst(path, Infinity, fault);

beforeEach(async () => {
  misbehave = undefined;
  server = await startServer();
});
afterEach(async () => {
  expect(readdirSync(slotsFolder)).toEqual([]);
  await server[Symbol.asyncDispose]();
});

describe('a server that does not come up as it must', () => {
  test('is named where nobody answers, after it was waited for', async () => {
    const start = performance.now();
    const url = `http://127.0.0.1:${await freePort()}`;
    await expect(openEngine(url)).rejects.toMatchObject({
      code: 'unreachable',
      message: `${url}: llama-server does not answer: ECONNREFUSED`,
    });
    expect(performance.now() - start).toBeGreaterThan(500);
  });

  test.each<[string, string, Misbehaviour, string, string]>([
    ['says nothing', '/props', { hangs: true }, 'unreachable', 'no byte came in 1.5 s'],
    [
      'knows no such route',
      '/props',
      { status: 404, message: 'File Not Found' },
      'protocol',
      'with 404: File Not Found',
    ],
    ['breaks', '/v1/models', { status: 500, message: 'it broke' }, 'protocol', 'answers /v1/models with 500: it broke'],
    [
      'is another program',
      '/props',
      { says: () => ({ hello: 'world' }) },
      'protocol',
      'unexpected response from /props: total_slots',
    ],
  ])('is named where it %s', async (_, path, fault, code, why) => {
    always(path, fault);
    await expect(openEngine()).rejects.toMatchObject({ code, message: expect.stringContaining(why) as string });
  });

  test('is refused where a cache of its own answers', async () => {
    always('/completion', {
      says: (answer) => ({ ...answer, timings: { cache_n: 7, prompt_n: 1, prompt_ms: 1, predicted_n: 1 } }),
    });
    await expect(openEngine()).rejects.toMatchObject({
      code: 'bad-option',
      message: expect.stringContaining("a cache of the server's own answered: 7 tokens reused") as string,
      hint: 'start it with --cache-ram 0',
    });
  });

  test('is refused where its counters say that it evaluated more than it says', async () => {
    always('/completion', {
      says: (answer) => {
        const { prompt_n: evaluated, ...timings } = answer['timings'] as { prompt_n: number };
        return { ...answer, timings: { ...timings, prompt_n: evaluated - 1 } };
      },
    });
    await expect(openEngine()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('its counters say') as string,
    });
  });

  test('is refused where it has too few slots, by the flags that give more', async () => {
    const connection = new ServerConnection({ url: server.url, program: 'llama-server' }, PATIENCE);
    const place = { connection, name: servedModel, file: undefined, slotsFolder, close: () => Promise.resolve() };
    await expect(
      LlamaServerEngine.open(place, { model: servedModel, sessions: 3, contextTokens: 512 }),
    ).rejects.toMatchObject({ code: 'bad-option', hint: 'start it with --parallel 3 --ctx-size 1536' });
  });
});

describe('a server that fails later', () => {
  let engine: Engine;
  let session: EngineSession;
  const memories = [30, 31, 32, 33, 34, 35];
  const question = [60, 61, 62, 63];
  beforeEach(async () => {
    engine = await openEngine();
    session = await engine.openSession('faults');
    await session.evaluate(memories);
  });
  afterEach(async () => {
    misbehave = undefined;
    await Promise.resolve(engine[Symbol.asyncDispose]()).catch(() => undefined);
  });

  test('is asked again where it is busy, as soon as it says, and the turn says so', async () => {
    atFirst('/completion', 1, { status: 429, headers: { 'retry-after': '0.3' }, message: 'too many' });
    const { tokens, retries } = await session.generate(question, { maxTokens: 3 });
    expect(retries).toEqual([{ reason: expect.stringContaining('with 429: too many') as string, waitedMs: 300 }]);
    expect(tokens.length).toBeGreaterThan(0);
  });

  test('is given up where it stays busy', async () => {
    always('/completion', { status: 503, message: 'Loading model' });
    await expect(session.generate(question, { maxTokens: 3 })).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('with 503: Loading model') as string,
    });
    expect(session.tokens).toEqual(memories);
  });

  test.each<[string, Misbehaviour, number, string]>([
    ['drops an answer in the middle', { breaksBehind: 1 }, 1, 'the answer was cut off'],
    ['falls silent', { hangs: true }, 0, 'no byte came in 1.5 s'],
    ['drops every line', { breaksBehind: 0 }, 0, 'does not answer'],
  ])('is named where it %s; the session is as it was, and goes on', async (_, fault, sent, why) => {
    const whole = await session.score(question, [40, 41]);
    await session.truncate(memories.length);
    const before = await session.meter();
    always('/completion', fault);
    await expect(session.generate(question, { maxTokens: 5, temperature: 3 })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(why) as string,
    });
    misbehave = undefined;
    expect(session.tokens).toEqual(memories);
    const lost = await session.meter();
    if (sent === 0) expect(meterDifference(lost, before).evaluated).toBeNull();
    expect(await session.score(question, [40, 41])).toEqual(whole);
  });

  test('is found out where it was restarted: what the session held is evaluated by nobody unseen', async () => {
    const { port } = server;
    await server[Symbol.asyncDispose]();
    server = await startServer('fake', port);
    await expect(session.generate(question, { maxTokens: 3 })).rejects.toMatchObject({
      code: 'changed',
      message: expect.stringContaining('slot 0 held 0 tokens of 6 that were left in it') as string,
    });
    expect(session.tokens).toEqual([]);
    await session.evaluate(memories);
    expect(session.tokens).toEqual(memories);
  });

  test('is found out where it serves another model', async () => {
    const { port } = server;
    await server[Symbol.asyncDispose]();
    server = await startServer('fake:8', port);
    await session.clear();
    await expect(session.evaluate(memories)).rejects.toMatchObject({
      code: 'changed',
      message: `${server.url}: it serves fake:8 now, and fake:7 before`,
    });
    await expect(engine.openSession('other')).rejects.toMatchObject({ code: 'changed' });
  });

  test('is named where its folder is full', async () => {
    always('/slots/0?action=save', { status: 500, message: 'Unable to save slot' });
    await expect(session.checkpoint()).rejects.toMatchObject({
      code: 'disk',
      message: expect.stringContaining('could not save a slot') as string,
      hint: 'free some space in the folder of --slots-folder',
    });
    expect(session.tokens).toEqual(memories);
  });

  const changedFile = (change: (path: string) => void): Misbehaviour => ({
    says: (answer) => {
      change(join(slotsFolder, readdirSync(slotsFolder)[0]!));
      return answer;
    },
  });
  test.each<[string, Misbehaviour, string]>([
    ['cut short', changedFile((path) => truncateSync(path, 200)), 'disk'],
    [
      'given other tokens',
      changedFile((path) => {
        const bytes = readFileSync(path);
        bytes.writeInt32LE(77, 24);
        writeFileSync(path, bytes);
      }),
      'changed',
    ],
    [
      'given KV of another kind',
      changedFile((path) => writeFileSync(path, Buffer.alloc(readFileSync(path).length, 7))),
      'bad-state',
    ],
  ])('is found out where a file of it was %s by somebody else', async (_, fault, code) => {
    always('/slots/0?action=save', fault);
    await expect(session.checkpoint()).rejects.toMatchObject({ code });
  });

  test('is named where it does not take a state back', async () => {
    const checkpoint = await session.checkpoint();
    always('/slots/0?action=restore', { status: 400, message: 'Unable to restore slot' });
    await expect(session.restore(checkpoint)).rejects.toMatchObject({
      code: 'bad-state',
      message: expect.stringContaining('Unable to restore slot') as string,
    });
    misbehave = undefined;
    await session.clear();
    await session.restore(checkpoint);
    expect(session.tokens).toEqual(memories);
  });
});
