import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import {
  type FakeOpenAiOptions,
  FakeOpenAiServer,
} from '../../../test/fixtures/fake-openai-server/fake-openai-server.ts';
import type { Misbehaviour, SeenRequest } from '../../../test/fixtures/fake-server/fake-server.ts';
import { servedModel } from '../../config/bench-config.ts';
import type { BenchError } from '../../config/bench-error.ts';
import { freePort } from '../../config/free-port.ts';
import type { EngineSession } from '../engine-session.ts';
import type { Engine } from '../engine.ts';
import { meterDifference } from '../token-meter.ts';
import { openerFor } from './openai-adapter.ts';

const PATIENCE = { waitMs: 900, silenceMs: 1500 };
const KEY = 'sk-not-to-be-seen';

let misbehave: ((request: SeenRequest) => Misbehaviour | undefined) | undefined;
let server: FakeOpenAiServer;

async function startServer(
  options: FakeOpenAiOptions & { readonly weights?: string } = {},
  port = 0,
): Promise<FakeOpenAiServer> {
  const { weights = 'fake', ...others } = options;
  const engine = await fakeAdapter.opener({}).open({ model: weights, contextTokens: 512 });
  return FakeOpenAiServer.start(engine, { misbehave: (request) => misbehave?.(request), ...others }, port);
}

const openEngine = (engineUrl = server.url, engineModel?: string, model = servedModel): Promise<Engine> =>
  openerFor({ engineUrl, ...(engineModel === undefined ? {} : { engineModel }) }, PATIENCE).open({
    model,
    sessions: 2,
  });

/** Misbehaves with the first requests of a route. */
function atFirst(path: string, times: number, fault: Misbehaviour): void {
  let left = times;
  misbehave = (request) => (request.path.startsWith(path) && left-- > 0 ? fault : undefined);
}

const always = (path: string, fault: Misbehaviour): void => atFirst(path, Infinity, fault);

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
  misbehave = undefined;
  server = await startServer();
});
afterEach(async () => {
  delete process.env['DKI_BENCH_ENGINE_KEY'];
  await server[Symbol.asyncDispose]();
});

describe('a server that does not come up as it must', () => {
  test('is named where nobody answers, after it was waited for', async () => {
    const start = performance.now();
    const url = `http://127.0.0.1:${await freePort()}`;
    await expect(openEngine(url)).rejects.toMatchObject({
      code: 'unreachable',
      message: `${url}: the server does not answer: ECONNREFUSED`,
    });
    expect(performance.now() - start).toBeGreaterThan(500);
  });

  test.each<[string, string, Misbehaviour, string, string]>([
    ['says nothing', '/v1/models', { hangs: true }, 'unreachable', 'no byte came in 1.5 s'],
    ['knows no such route', '/v1/models', { status: 404, message: 'Not Found' }, 'protocol', 'with 404: Not Found'],
    ['breaks', '/v1/completions', { status: 500, message: 'it broke' }, 'protocol', 'with 500: it broke'],
    ['is another program', '/v1/models', { says: () => ({ hello: 1 }) }, 'protocol', 'with what it should not, data'],
    [
      'sends elsewhere',
      '/v1/models',
      { status: 307, headers: { location: 'http://127.0.0.1:1' } },
      'protocol',
      'with 307',
    ],
  ])('is named where it %s', async (_, path, fault, code, why) => {
    always(path, fault);
    await expect(openEngine()).rejects.toMatchObject({ code, message: expect.stringContaining(why) as string });
  });

  test('is refused without a tokeniser, and by the names of the models that it has', async () => {
    await expect(openEngine(server.url, 'other')).rejects.toMatchObject({
      code: 'bad-model',
      message: `--engine-model other: ${server.url} has no such model`,
      hint: 'it serves fake-model',
    });
    await expect(openEngine(server.url, undefined, '/models/model.gguf')).rejects.toMatchObject({ code: 'bad-option' });
    always('/tokenize', { status: 404 });
    await expect(openEngine()).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('the server has no /tokenize and /detokenize') as string,
    });
  });

  test('is refused where it does not say what it reused: unknown is not 0', async () => {
    always(
      '/v1/completions',
      cached(() => null),
    );
    await expect(openEngine()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('--enable-prompt-tokens-details') as string,
    });
  });

  test.each<[string, (tokens: number) => number]>([
    ['more than it found', (tokens) => tokens + 16],
    ['less than it found', (tokens) => Math.max(0, tokens - 16)],
  ])('is refused where it says that it reused %s', async (_, change) => {
    always('/v1/completions', cached(change));
    await expect(openEngine()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringMatching(
        /says that it evaluated .* and its counters say .*; is it used by others\?/,
      ) as string,
    });
  });

  test('is refused where its cache finds prompts of others, whatever stands in front of them', async () => {
    await server[Symbol.asyncDispose]();
    server = await startServer({ hasNoCounters: true });
    always(
      '/v1/completions',
      cached(() => 32),
    );
    await expect(openEngine()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('tokens of a prompt under a name that nobody used before') as string,
    });
  });

  test('is told a key, which no message shows', async () => {
    process.env['DKI_BENCH_ENGINE_KEY'] = KEY;
    await using _ = await openEngine();
    expect(new Set(server.requests.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
    always('/v1/models', { status: 400, message: `no such key: ${KEY}` });
    const refused = await openEngine().catch((error: unknown) => error as BenchError);
    expect(refused).toMatchObject({ message: expect.stringContaining('no such key: …') as string });
    always('/v1/models', { status: 401, message: `bad ${KEY}` });
    const denied = await openEngine().catch((error: unknown) => error as BenchError);
    expect(denied).toMatchObject({ code: 'bad-option', hint: 'correct DKI_BENCH_ENGINE_KEY' });
    expect(inspect([refused, denied], { depth: Infinity })).not.toContain(KEY);
  });

  test('is refused where it takes shorter sequences than are asked for', async () => {
    const opener = openerFor({ engineUrl: server.url }, PATIENCE);
    await expect(opener.open({ model: servedModel, contextTokens: 512 })).rejects.toMatchObject({
      code: 'bad-option',
      message: `${server.url}: the server takes 511 tokens, and 512 are needed`,
    });
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
    misbehave = undefined;
    await Promise.resolve(engine[Symbol.asyncDispose]()).catch(() => undefined);
  });

  test('is asked again where it is busy, as soon as it says, and the turn says so', async () => {
    atFirst('/v1/completions', 1, { status: 429, headers: { 'retry-after': '0.3' }, message: 'too many' });
    const { tokens, retries } = await session.generate(question, { maxTokens: 3 });
    expect(retries).toEqual([{ reason: expect.stringContaining('with 429: too many') as string, waitedMs: 300 }]);
    expect(tokens.length).toBeGreaterThan(0);
  });

  test('is given up where it stays busy', async () => {
    always('/v1/completions', { status: 503, message: 'loading' });
    await expect(session.generate(question, { maxTokens: 3 })).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('with 503: loading') as string,
    });
    expect(session.tokens).toEqual(memories);
  });

  test.each<[string, Misbehaviour, string, string]>([
    ['refuses a request', { status: 400, message: 'no' }, 'protocol', 'with 400: no'],
    ['breaks', { status: 500, message: 'it broke' }, 'protocol', 'with 500: it broke'],
    ['drops an answer in the middle', { breaksBehind: 1 }, 'unreachable', 'the answer was cut off'],
    ['falls silent', { hangs: true }, 'unreachable', 'no byte came in 1.5 s'],
    ['drops every line', { breaksBehind: 0 }, 'unreachable', 'does not answer'],
    ['says nothing of what it reused', cached(() => null), 'protocol', 'does not say how many tokens it reused'],
    [
      'ends an answer without saying so',
      {
        says: (answer) => ({
          ...answer,
          choices: (answer['choices'] as object[]).map((one) => ({ ...one, finish_reason: null })),
        }),
      },
      'unreachable',
      'the answer was cut off',
    ],
  ])('is named where it %s; the session is as it was, and goes on', async (_, fault, code, why) => {
    const whole = await session.score(question, [40, 41]);
    await session.truncate(memories.length);
    const before = await session.meter();
    always('/v1/completions', fault);
    await expect(session.generate(question, { maxTokens: 5 })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(why) as string,
    });
    misbehave = undefined;
    expect(session.tokens).toEqual(memories);
    const lost = await session.meter();
    expect(meterDifference(lost, before)).toMatchObject({ evaluated: null, reused: null });
    expect(await engine.audit()).toBeNull();
    expect(await session.score(question, [40, 41])).toEqual(whole);
    // What was lost does not hide what comes after it.
    expect(meterDifference(await session.meter(), lost).evaluated).toBeGreaterThan(0);
  });

  test('is found out where it was restarted, and nothing is in its cache', async () => {
    const { port } = server;
    await server[Symbol.asyncDispose]();
    server = await startServer({}, port);
    await expect(session.generate(question, { maxTokens: 3 })).rejects.toMatchObject({
      code: 'changed',
      message: `${server.url}: it found none of the 40 tokens that were left in its cache`,
    });
    // Counters that begin anew say so too.
    await session.clear();
    await session.evaluate(memories);
    const audit = await engine.audit();
    expect(audit === null || audit.answers.evaluated !== audit.counters.evaluated).toBe(true);
  });

  test.each<[string, FakeOpenAiOptions & { readonly weights?: string }, string]>([
    ['another model', { model: 'other' }, 'it serves other now, and fake-model before'],
    [
      'another model under its name',
      { weights: 'fake:8' },
      'it says of fake-model now fake:8, 512 tokens, and before fake:7, 512 tokens',
    ],
    ['a shorter window', { windowTokens: 256 }, 'it says of fake-model now fake:7, 256 tokens'],
  ])('is found out where it serves %s', async (_, options, why) => {
    const { port } = server;
    await server[Symbol.asyncDispose]();
    server = await startServer(options, port);
    await session.clear();
    const asked = 'model' in options ? engine.openSession('other') : session.generate(question, { maxTokens: 3 });
    await expect(asked).rejects.toMatchObject({ code: 'changed', message: expect.stringContaining(why) as string });
  });

  test('is found out where it reuses what it must not', async () => {
    await session.clear();
    always(
      '/v1/completions',
      cached(() => 16),
    );
    await expect(session.generate([...memories, ...question], { maxTokens: 3 })).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('reused 16 tokens of a prompt under a name that nobody used before') as string,
    });
  });

  test('that lies about what it found is found out by its counters', async () => {
    const cacheScope = 'ann';
    await session.clear({ cacheScope });
    await session.evaluate(memories);
    await session.clear({ cacheScope });
    always(
      '/v1/completions',
      cached((tokens) => tokens - 16),
    );
    await session.evaluate(memories);
    misbehave = undefined;
    const audit = await engine.audit();
    expect(audit!.answers.reused).toBe(audit!.counters.reused! - 16);
  });
});
