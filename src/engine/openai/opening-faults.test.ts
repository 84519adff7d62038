import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cached, FaultyOpenAiServer } from '../../../test/fixtures/fake-openai-server/faulty-openai-server.ts';
import type { Misbehaviour } from '../../../test/fixtures/fake-server.ts';
import { servedModel } from '../../config/bench-config.ts';
import type { BenchError } from '../../base/bench-error.ts';
import { freePort } from '../../base/free-port.ts';

const KEY = 'sk-not-to-be-seen';

let server: FaultyOpenAiServer;
beforeEach(async () => {
  server = await FaultyOpenAiServer.start();
});
afterEach(async () => {
  delete process.env['DKI_BENCH_ENGINE_KEY'];
  await server[Symbol.asyncDispose]();
});

describe('a server that does not come up as it must', () => {
  test('is named where nobody answers, after it was waited for', async () => {
    const start = performance.now();
    const url = `http://127.0.0.1:${await freePort()}`;
    await expect(server.opener(url).open({ model: servedModel })).rejects.toMatchObject({
      code: 'unreachable',
      message: `${url}: the server does not answer: ECONNREFUSED`,
    });
    expect(performance.now() - start).toBeGreaterThan(500);
  });

  test.each<[string, string, Misbehaviour, string, string]>([
    ['says nothing', '/v1/models', { hangs: true }, 'unreachable', 'no byte came in 1.5 s'],
    ['knows no such route', '/v1/models', { status: 404, message: 'Not Found' }, 'protocol', 'with 404: Not Found'],
    ['breaks', '/v1/completions', { status: 500, message: 'it broke' }, 'protocol', 'with 500: it broke'],
    [
      'is another program',
      '/v1/models',
      { says: () => ({ hello: 1 }) },
      'protocol',
      'unexpected response from /v1/models: data',
    ],
    [
      'sends elsewhere',
      '/v1/models',
      { status: 307, headers: { location: 'http://127.0.0.1:1' } },
      'protocol',
      'with 307',
    ],
  ])('is named where it %s', async (_, path, fault, code, why) => {
    server.always(path, fault);
    await expect(server.openEngine()).rejects.toMatchObject({ code, message: expect.stringContaining(why) as string });
  });

  test('is refused without a tokeniser, and by the names of the models that it has', async () => {
    await expect(server.opener(server.url, 'other').open({ model: servedModel })).rejects.toMatchObject({
      code: 'bad-model',
      message: `--engine-model other: ${server.url} has no such model`,
      hint: 'it serves fake-model',
    });
    await expect(server.opener().open({ model: '/models/model.gguf' })).rejects.toMatchObject({ code: 'bad-option' });
    server.always('/tokenize', { status: 404 });
    await expect(server.openEngine()).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('the server has no /tokenize and /detokenize') as string,
    });
  });

  test('is refused where it does not say what it reused: unknown is not 0', async () => {
    server.always(
      '/v1/completions',
      cached(() => null),
    );
    await expect(server.openEngine()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('--enable-prompt-tokens-details') as string,
    });
  });

  test.each<[string, (tokens: number) => number]>([
    ['more than it found', (tokens) => tokens + 16],
    ['less than it found', (tokens) => Math.max(0, tokens - 16)],
  ])('is refused where it says that it reused %s', async (_, change) => {
    server.always('/v1/completions', cached(change));
    await expect(server.openEngine()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringMatching(
        /says that it evaluated .* and its counters say .*; is it used by others\?/,
      ) as string,
    });
  });

  test('is refused where its cache finds prompts of others, whatever stands in front of them', async () => {
    await server.restart({ hasNoCounters: true });
    server.always(
      '/v1/completions',
      cached(() => 32),
    );
    await expect(server.openEngine()).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('tokens of a prompt under a new name') as string,
    });
  });

  test('is told a key, which no message shows', async () => {
    process.env['DKI_BENCH_ENGINE_KEY'] = KEY;
    await using _ = await server.openEngine();
    expect(new Set(server.requests.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
    server.always('/v1/models', { status: 400, message: `no such key: ${KEY}` });
    const refused = await server.openEngine().catch((error: unknown) => error as BenchError);
    expect(refused).toMatchObject({ message: expect.stringContaining('no such key: …') as string });
    server.always('/v1/models', { status: 401, message: `bad ${KEY}` });
    const denied = await server.openEngine().catch((error: unknown) => error as BenchError);
    expect(denied).toMatchObject({ code: 'bad-option', hint: 'correct DKI_BENCH_ENGINE_KEY' });
    expect(inspect([refused, denied], { depth: Infinity })).not.toContain(KEY);
  });

  test('is refused where it takes shorter sequences than are asked for', async () => {
    await expect(server.opener().open({ model: servedModel, contextTokens: 512 })).rejects.toMatchObject({
      code: 'bad-option',
      message: `${server.url}: the server takes 511 tokens, and 512 are needed`,
    });
  });
});
