import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { errorLike } from '../../../test/fixtures/error-like.ts';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import {
  type FakeOpenAiOptions,
  FakeOpenAiServer,
} from '../../../test/fixtures/fake-openai-server/fake-openai-server.ts';
import { impatience, type Misbehaviour } from '../../../test/fixtures/fake-server.ts';
import type { BenchError } from '../../base/bench-error.ts';
import { freePort } from '../../base/free-port.ts';
import { servedModel } from '../../config/bench-config.ts';
import type { EngineSession } from '../engine-session.ts';
import type { Engine } from '../engine.ts';
import { meterDifference } from '../token-meter.ts';
import { openerFor } from './openai-adapter.ts';

const KEY = 'sk-not-to-be-seen';
const COMPLETIONS = '/v1/completions';

let server: FakeOpenAiServer;

async function startServer(options: FakeOpenAiOptions = {}, weights = 'fake', port = 0): Promise<FakeOpenAiServer> {
  const engine = await fakeAdapter.opener({}).open({ model: weights, contextTokens: 512 });
  return FakeOpenAiServer.start(engine, options, port);
}

async function restart(options: FakeOpenAiOptions = {}, weights?: string): Promise<void> {
  const { port } = server;
  await server[Symbol.asyncDispose]();
  server = await startServer(options, weights, port);
}

const openEngine = (
  adapter: { engineUrl?: string; engineModel?: string } = {},
  request: object = {},
): Promise<Engine> =>
  openerFor({ engineUrl: server.url, ...adapter }, impatience).open({ model: servedModel, sessions: 2, ...request });

/** Says another number of cached tokens, wherever it says one. */
const cached = (change: (tokens: number) => number | null): Misbehaviour => ({
  says: (answer) => {
    const usage = answer['usage'] as { prompt_tokens_details: { cached_tokens: number } } | null | undefined;
    if (usage === null || usage === undefined) return answer;
    const { cached_tokens: tokens } = usage.prompt_tokens_details;
    return { ...answer, usage: { ...usage, prompt_tokens_details: { cached_tokens: change(tokens) } } };
  },
});

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
});

describe('a server that cannot be used', () => {
  test('is reported as unreachable after a wait', async () => {
    const start = performance.now();
    const engineUrl = `http://127.0.0.1:${await freePort()}`;
    const message = `${engineUrl}: the server does not answer: ECONNREFUSED`;
    await expect(openEngine({ engineUrl })).rejects.toMatchObject({ code: 'unreachable', message });
    expect(performance.now() - start).toBeGreaterThan(500);
  });

  const stranger = { says: () => ({ hello: 1 }) };
  const elsewhere = { status: 307, headers: { location: 'http://127.0.0.1:1' } };
  const unlike = /reports .* in answers, but .* in its counters; do others use it\?/;
  test.each<[string, string, Misbehaviour, string, string | RegExp]>([
    ['says nothing', '/v1/models', { hangs: true }, 'unreachable', 'it sent nothing for 1.5 s'],
    ['knows no such route', '/v1/models', { status: 404, message: 'Not Found' }, 'protocol', 'with 404: Not Found'],
    ['breaks', COMPLETIONS, { status: 500, message: 'it broke' }, 'protocol', 'with 500: it broke'],
    ['is another program', '/v1/models', stranger, 'protocol', 'unexpected response from /v1/models: data'],
    ['sends elsewhere', '/v1/models', elsewhere, 'protocol', 'with 307'],
    ['has no tokeniser', '/tokenize', { status: 404 }, 'unsupported', 'the server lacks /tokenize and /detokenize'],
    // Unknown is not 0.
    ['does not say what it reused', COMPLETIONS, cached(() => null), 'protocol', '--enable-prompt-tokens-details'],
    ['says that it reused more than it found', COMPLETIONS, cached((tokens) => tokens + 16), 'protocol', unlike],
    ['says less', COMPLETIONS, cached((tokens) => Math.max(0, tokens - 16)), 'protocol', unlike],
  ])('is refused if it %s', async (_, path, fault, code, why) => {
    server.always(path, fault);
    await expect(openEngine()).rejects.toMatchObject(errorLike(code, why));
  });

  test('is refused with the names of its models', async () => {
    await expect(openEngine({ engineModel: 'other' })).rejects.toMatchObject({
      code: 'bad-model',
      message: `--engine-model other: ${server.url} has no such model`,
      hint: 'it serves fake-model',
    });
    await expect(openEngine({}, { model: '/models/model.gguf' })).rejects.toMatchObject({ code: 'bad-option' });
  });

  test('is refused if its cache reuses prompts across names', async () => {
    await restart({ hasNoCounters: true });
    const found = cached(() => 32);
    server.always(COMPLETIONS, found);
    await expect(openEngine()).rejects.toMatchObject(errorLike('protocol', 'tokens of a prompt under a new name'));
  });

  test('must turn off its cache in the first request under a name, if it has no salt', async () => {
    await restart({ hasNoSalt: true });
    await using _ = await openEngine();
    const told = server.requests.flatMap(({ body }) => ('cache_prompt' in body ? [body['cache_prompt']] : []));
    expect(told[0]).toBe(false);
  });

  test('receives a key that no message shows', async () => {
    vi.stubEnv('DKI_BENCH_ENGINE_KEY', KEY);
    await using _ = await openEngine();
    expect(new Set(server.requests.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
    server.always('/v1/models', { status: 400, message: `no such key: ${KEY}` });
    const refused = await openEngine().catch((error: unknown) => error as BenchError);
    expect(refused).toMatchObject({ message: expect.stringContaining('no such key: …') as string });
    server.always('/v1/models', { status: 401, message: `bad ${KEY}` });
    const denied = await openEngine().catch((error: unknown) => error as BenchError);
    expect(denied).toMatchObject({ code: 'bad-option', hint: 'correct DKI_BENCH_ENGINE_KEY' });
    expect(inspect([refused, denied], { depth: Infinity })).not.toContain(KEY);
  });

  test('is refused if its window is too short', async () => {
    const message = `${server.url}: the server takes 511 tokens, but the run needs 512`;
    const opened = openEngine({}, { sessions: 1, contextTokens: 512 });
    await expect(opened).rejects.toMatchObject({ code: 'bad-option', message });
  });
});

describe('a server that fails later', () => {
  let engine: Engine;
  let session: EngineSession;
  const memories = Array.from({ length: 40 }, (_, index) => 30 + index);
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

  test('samples greedily by default, or with a seed and stop texts, under a new name in a new session', async () => {
    const before = server.requests.length;
    await session.generate(question, { maxTokens: 3, stopTexts: ['\nUser:'] });
    await session.clear();
    await session.generate(question, { maxTokens: 4, temperature: 0.5, seed: 9 });
    const [first, second] = server.requests
      .slice(before)
      .flatMap(({ path, body }) => (path === COMPLETIONS ? [body] : []));
    const plain = { top_p: 1, min_p: 0, repetition_penalty: 1, presence_penalty: 0, frequency_penalty: 0 };
    expect(first).toMatchObject({ ...plain, max_tokens: 3, temperature: 0, seed: 0, stop: ['\nUser:'] });
    expect(second).toMatchObject({ ...plain, max_tokens: 4, temperature: 0.5, seed: 9 });
    expect(first!['cache_salt']).not.toEqual(second!['cache_salt']);
  });

  test('is retried while busy, after the pause that it requests, and the turn records it', async () => {
    server.atFirst(COMPLETIONS, 1, { status: 429, headers: { 'retry-after': '0.3' }, message: 'too many' });
    const { tokens, retries } = await session.generate(question, { maxTokens: 3 });
    expect(retries).toEqual([{ reason: expect.stringContaining('with 429: too many') as string, waitedMs: 300 }]);
    expect(tokens.length).toBeGreaterThan(0);
  });

  test('fails if it stays busy', async () => {
    server.always(COMPLETIONS, { status: 503, message: 'loading' });
    const generation = session.generate(question, { maxTokens: 3 });
    await expect(generation).rejects.toMatchObject(errorLike('busy', 'with 503: loading'));
    expect(session.tokens).toEqual(memories);
  });

  const endless: Misbehaviour = {
    says: ({ choices, ...answer }) => ({
      ...answer,
      choices: (choices as object[]).map((one) => ({ ...one, finish_reason: null })),
    }),
  };
  test.each<[string, Misbehaviour, string, string]>([
    ['refuses a request', { status: 400, message: 'no' }, 'protocol', 'with 400: no'],
    ['breaks', { status: 500, message: 'it broke' }, 'protocol', 'with 500: it broke'],
    ['drops an answer in the middle', { breaksBehind: 1 }, 'unreachable', 'the answer was cut off'],
    ['falls silent', { hangs: true }, 'unreachable', 'it sent nothing for 1.5 s'],
    ['drops every line', { breaksBehind: 0 }, 'unreachable', 'does not answer'],
    ['says nothing of what it reused', cached(() => null), 'protocol', 'does not tell how many tokens it reused'],
    ['ends an answer without saying so', endless, 'unreachable', 'the answer was cut off'],
  ])('is reported if it %s; the session is as it was, and goes on', async (_, fault, code, why) => {
    const whole = await session.score(question, [40, 41]);
    await session.truncate(memories.length);
    const before = await session.meter();
    server.always(COMPLETIONS, fault);
    await expect(session.generate(question, { maxTokens: 5 })).rejects.toMatchObject(errorLike(code, why));
    server.mend();
    expect(session.tokens).toEqual(memories);
    const lost = await session.meter();
    expect(meterDifference(lost, before)).toMatchObject({ evaluated: null, reused: null });
    expect(await engine.audit()).toBeNull();
    expect(await session.score(question, [40, 41])).toEqual(whole);
    // A lost answer does not affect later counts.
    expect(meterDifference(await session.meter(), lost).evaluated).toBeGreaterThan(0);
  });

  test('that was restarted with an empty cache is detected', async () => {
    await restart();
    const message = `${server.url}: it reused none of the 40 tokens that should be in its cache`;
    await expect(session.generate(question, { maxTokens: 3 })).rejects.toMatchObject({ code: 'changed', message });
    // Restarted counters show it too.
    await session.clear();
    await session.evaluate(memories);
    const audit = await engine.audit();
    expect(audit === null || audit.answers.evaluated !== audit.counters.evaluated).toBe(true);
  });

  const other = 'fake-model is now fake:8, 512 tokens, but was fake:7, 512 tokens';
  test.each<[string, FakeOpenAiOptions, string, string]>([
    ['another model', { model: 'other' }, 'fake', 'it serves other now, but served fake-model'],
    ['another model under its name', {}, 'fake:8', other],
    ['a shorter window', { windowTokens: 256 }, 'fake', 'fake-model is now fake:7, 256 tokens'],
  ])('is detected if it serves %s', async (_, options, weights, why) => {
    await restart(options, weights);
    await session.clear();
    const asked = 'model' in options ? engine.openSession('other') : session.generate(question, { maxTokens: 3 });
    await expect(asked).rejects.toMatchObject(errorLike('changed', why));
  });

  test('is detected if it reuses what it must not', async () => {
    await session.clear();
    const found = cached(() => 16);
    server.always(COMPLETIONS, found);
    const generation = session.generate([...memories, ...question], { maxTokens: 3 });
    const why = 'reused 16 tokens of a prompt under a new name';
    await expect(generation).rejects.toMatchObject(errorLike('protocol', why));
  });

  test('that reports too few cached tokens is caught by its counters', async () => {
    const cacheScope = 'ann';
    await session.clear({ cacheScope });
    await session.evaluate(memories);
    await session.clear({ cacheScope });
    const fewer = cached((tokens) => tokens - 16);
    server.always(COMPLETIONS, fewer);
    await session.evaluate(memories);
    server.mend();
    const audit = await engine.audit();
    expect(audit!.answers.reused).toBe(audit!.counters.reused! - 16);
  });

  test('says which reused tokens came from a cache outside the server', async () => {
    await restart({ externalTokens: 16 });
    await using opened = await openEngine();
    await using asking = await opened.openSession('a');
    await asking.evaluate(memories);
    const before = await opened.audit();
    await asking.generate(question, { maxTokens: 1 });
    const after = await opened.audit();
    expect(after).toMatchObject({ answers: { external: 16 + before!.answers.external! } });
    expect(after!.counters).toEqual(after!.answers);
    expect(after!.answers.reused! - before!.answers.reused!).toBe(32);
  });
});
