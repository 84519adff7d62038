import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorLike } from '../../../test/fixtures/error-like.ts';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { FakeLlamaServer } from '../../../test/fixtures/fake-llama-server/fake-llama-server.ts';
import { impatience, type Misbehaviour } from '../../../test/fixtures/fake-server.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { servedModel } from '../../config/bench-config.ts';
import type { EngineSession } from '../engine-session.ts';
import type { Engine } from '../engine.ts';
import { ServerConnection } from '../http/server-connection.ts';
import { meterDifference } from '../token-meter.ts';
import { LlamaServerEngine } from './llama-server-engine.ts';

const slots = temporaryFolder();
const models = temporaryFolder();
let server: FakeLlamaServer;

async function startServer(model = 'fake', port = 0): Promise<FakeLlamaServer> {
  const engine = await fakeAdapter.opener({}).open({ model, sessions: 2, contextTokens: 512 });
  return FakeLlamaServer.start(engine, { slotsFolder: slots.path }, port);
}

async function restartWith(model: string): Promise<void> {
  const { port } = server;
  await server[Symbol.asyncDispose]();
  server = await startServer(model, port);
}

function openEngine(url = server.url, request = { sessions: 2 }, file?: string): Promise<Engine> {
  const connection = new ServerConnection({ url, program: 'llama-server' }, impatience);
  const place = { connection, name: servedModel, file, slotsFolder: slots.path };
  return LlamaServerEngine.open({ ...place, close: () => Promise.resolve() }, { model: servedModel, ...request });
}

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  expect(readdirSync(slots.path)).toEqual([]);
  await server[Symbol.asyncDispose]();
});

describe('a server that cannot be used', () => {
  const stranger = { says: () => ({ hello: 'world' }) };
  const fewerEvaluated: Misbehaviour = {
    says: (answer) => {
      const { prompt_n: evaluated, ...timings } = answer['timings'] as { prompt_n: number };
      return { ...answer, timings: { ...timings, prompt_n: evaluated - 1 } };
    },
  };
  test.each<[string, string, Misbehaviour, string, string]>([
    ['says nothing', '/props', { hangs: true }, 'unreachable', 'it sent nothing for 1.5 s'],
    ['knows no such route', '/props', { status: 404, message: 'No File' }, 'protocol', 'with 404: No File'],
    ['breaks', '/v1/models', { status: 500, message: 'it broke' }, 'protocol', 'answers /v1/models with 500: it broke'],
    ['is another program', '/props', stranger, 'protocol', 'unexpected response from /props: total_slots'],
    ['says that it evaluated less than it did', '/completion', fewerEvaluated, 'protocol', 'in its counters'],
  ])('is reported if it %s', async (_, path, fault, code, why) => {
    server.always(path, fault);
    await expect(openEngine()).rejects.toMatchObject(errorLike(code, why));
  });

  test('is refused if it has another cache', async () => {
    const timings = { cache_n: 7, prompt_n: 1, prompt_ms: 1, predicted_n: 1 };
    server.always('/completion', { says: (answer) => ({ ...answer, timings }) });
    await expect(openEngine()).rejects.toMatchObject({
      ...errorLike('bad-option', 'the server has another cache: it reused 7 tokens'),
      hint: 'start it with --cache-ram 0',
    });
  });

  test('is refused if it has loaded another model than the file', async () => {
    const file = models.file('model.gguf');
    writeFileSync(file, tinyGguf(tinyHeader('llama'), { 'output_norm.weight': [1, 2, 3] }));
    const why = `${file}: not the model that ${server.url} has loaded: 3 parameters, but the server has `;
    await expect(openEngine(server.url, { sessions: 2 }, file)).rejects.toMatchObject(errorLike('bad-model', why));
  });

  test('can be used for text if its KV has a layout that cannot be moved', async () => {
    server.always('/slots/0?action=save', {
      says: (answer) => {
        const path = slots.file(readdirSync(slots.path)[0]!);
        const secondCache = Buffer.from(Int32Array.of(1, 0).buffer);
        appendFileSync(path, secondCache);
        return { ...answer, n_written: statSync(path).size };
      },
    });
    await using engine = await openEngine();
    expect(engine.capabilities).toMatchObject({ checkpoints: false, cells: null });
    const why = 'slot 0: unusable KV state: it has a second cache (sliding-window attention or a hybrid model)';
    expect(engine.capabilities.missing.checkpoints).toBe(
      `${why}: use a model with movable KV: architecture llama, qwen2, qwen3 or qwen3moe`,
    );
    const session = await engine.openSession('text');
    await session.evaluate([30, 31, 32]);
    expect(session.tokens).toEqual([30, 31, 32]);
  });

  test('is refused if it has too few slots, with the flags to get more', async () => {
    const hint = 'start it with --parallel 3 --ctx-size 1536';
    const request = { sessions: 3, contextTokens: 512 };
    await expect(openEngine(server.url, request)).rejects.toMatchObject({ code: 'bad-option', hint });
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
    server.mend();
    await Promise.resolve(engine[Symbol.asyncDispose]()).catch(() => undefined);
  });

  test('samples greedily by default, or with a seed, and reuses nothing in a new session', async () => {
    const before = server.requests.length;
    await session.generate(question, { maxTokens: 3 });
    await session.clear();
    await session.generate(question, { maxTokens: 4, temperature: 0.5, seed: 9 });
    const sent = server.requests.slice(before).flatMap(({ path, body }) => (path === '/completion' ? [body] : []));
    const plain = { id_slot: 0, samplers: ['temperature'], repeat_penalty: 1, n_cache_reuse: 0 };
    expect(sent.filter((body) => 'stream' in body)).toMatchObject([
      { ...plain, n_predict: 3, temperature: 0, seed: 0, cache_prompt: true, prompt: [...memories, ...question] },
      { ...plain, n_predict: 4, temperature: 0.5, seed: 9, cache_prompt: false, prompt: question },
    ]);
  });

  test.each<[string, Misbehaviour, string, string]>([
    ['stays busy', { status: 503, message: 'Loading model' }, 'busy', 'with 503: Loading model'],
    ['drops an answer in the middle', { breaksBehind: 1 }, 'unreachable', 'the answer was cut off'],
    ['falls silent', { hangs: true }, 'unreachable', 'it sent nothing for 1.5 s'],
    ['drops every line', { breaksBehind: 0 }, 'unreachable', 'does not answer'],
  ])('is reported if it %s; the session is as it was, and goes on', async (_, fault, code, why) => {
    const whole = await session.score(question, [40, 41]);
    await session.truncate(memories.length);
    const before = await session.meter();
    server.always('/completion', fault);
    const generation = session.generate(question, { maxTokens: 5, temperature: 3 });
    await expect(generation).rejects.toMatchObject(errorLike(code, why));
    server.mend();
    expect(session.tokens).toEqual(memories);
    // Unknown, since the lost answer may have been computed.
    if (fault.hangs === true || fault.breaksBehind === 0) {
      expect(meterDifference(await session.meter(), before).evaluated).toBeNull();
    }
    expect(await session.score(question, [40, 41])).toEqual(whole);
  });

  test('is detected if it was restarted, instead of silently evaluating the session again', async () => {
    await restartWith('fake');
    const lost = errorLike('changed', 'slot 0 has lost tokens: it reused 0 of 6');
    await expect(session.generate(question, { maxTokens: 3 })).rejects.toMatchObject(lost);
    expect(session.tokens).toEqual([]);
    await session.evaluate(memories);
    expect(session.tokens).toEqual(memories);
  });

  test('is detected if it reuses what it must not', async () => {
    await session.clear();
    const says: Misbehaviour['says'] = (answer) => {
      const timings = answer['timings'] as { prompt_n: number } | undefined;
      if (timings === undefined) return answer;
      return { ...answer, timings: { ...timings, cache_n: 2, prompt_n: timings.prompt_n - 2 } };
    };
    server.always('/completion', { says });
    const generation = session.generate(question, { maxTokens: 3 });
    const why = 'reused 2 tokens, although the request forbade reuse';
    await expect(generation).rejects.toMatchObject(errorLike('protocol', why));
  });

  test('is detected if it serves another model', async () => {
    await restartWith('fake:8');
    await session.clear();
    const message = `${server.url}: it serves fake:8 now, but served fake:7`;
    await expect(session.evaluate(memories)).rejects.toMatchObject({ code: 'changed', message });
    await expect(engine.openSession('other')).rejects.toMatchObject({ code: 'changed' });
  });

  test('is reported if its folder is full', async () => {
    server.always('/slots/0?action=save', { status: 500, message: 'Unable to save slot' });
    await expect(session.checkpoint()).rejects.toMatchObject({
      ...errorLike('disk', 'could not save a slot'),
      hint: 'free some space in the folder of --slots-folder',
    });
    expect(session.tokens).toEqual(memories);
  });

  test('is reported as unreachable if it falls silent while it saves a slot', async () => {
    server.always('/slots/0?action=save', { hangs: true });
    await expect(session.checkpoint()).rejects.toMatchObject(errorLike('unreachable', 'it sent nothing for 1.5 s'));
    expect(session.tokens).toEqual(memories);
  });

  const rewrite = (path: string, change: (bytes: Buffer) => unknown): void => {
    const bytes = readFileSync(path);
    change(bytes);
    writeFileSync(path, bytes);
  };
  test.each<[string, (path: string) => void, string]>([
    ['cut short', (path) => truncateSync(path, 200), 'disk'],
    ['given other tokens', (path) => rewrite(path, (bytes) => bytes.writeInt32LE(77, 24)), 'changed'],
    ['given KV of another kind', (path) => rewrite(path, (bytes) => bytes.fill(7)), 'bad-state'],
  ])('is found out where a file of it was %s by somebody else', async (_, change, code) => {
    server.always('/slots/0?action=save', {
      says: (answer) => {
        change(slots.file(readdirSync(slots.path)[0]!));
        return answer;
      },
    });
    await expect(session.checkpoint()).rejects.toMatchObject({ code });
  });

  test('is reported if it refuses a saved state', async () => {
    const checkpoint = await session.checkpoint();
    server.always('/slots/0?action=restore', { status: 400, message: 'Unable to restore slot' });
    await expect(session.restore(checkpoint)).rejects.toMatchObject(errorLike('bad-state', 'Unable to restore slot'));
    server.mend();
    await session.clear();
    await session.restore(checkpoint);
    expect(session.tokens).toEqual(memories);
  });
});
