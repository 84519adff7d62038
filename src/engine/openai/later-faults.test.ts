import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  cached,
  FaultyOpenAiServer,
  type FaultyServerOptions,
} from '../../../test/fixtures/fake-openai-server/faulty-openai-server.ts';
import type { Misbehaviour } from '../../../test/fixtures/fake-server.ts';
import type { EngineSession } from '../engine-session.ts';
import type { Engine } from '../engine.ts';
import { meterDifference } from '../token-meter.ts';

let server: FaultyOpenAiServer;
beforeEach(async () => {
  server = await FaultyOpenAiServer.start();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

describe('a server that fails later', () => {
  let engine: Engine;
  let session: EngineSession;
  const memories = Array.from({ length: 40 }, (_, index) => 30 + index);
  const question = [60, 61, 62, 63];
  beforeEach(async () => {
    engine = await server.openEngine();
    session = await engine.openSession('faults');
    await session.evaluate(memories);
  });
  afterEach(async () => {
    server.mend();
    await Promise.resolve(engine[Symbol.asyncDispose]()).catch(() => undefined);
  });

  test('is asked again where it is busy, as soon as it says, and the turn says so', async () => {
    server.atFirst('/v1/completions', 1, { status: 429, headers: { 'retry-after': '0.3' }, message: 'too many' });
    const { tokens, retries } = await session.generate(question, { maxTokens: 3 });
    expect(retries).toEqual([{ reason: expect.stringContaining('with 429: too many') as string, waitedMs: 300 }]);
    expect(tokens.length).toBeGreaterThan(0);
  });

  test('is given up where it stays busy', async () => {
    server.always('/v1/completions', { status: 503, message: 'loading' });
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
    server.always('/v1/completions', fault);
    await expect(session.generate(question, { maxTokens: 5 })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(why) as string,
    });
    server.mend();
    expect(session.tokens).toEqual(memories);
    const lost = await session.meter();
    expect(meterDifference(lost, before)).toMatchObject({ evaluated: null, reused: null });
    expect(await engine.audit()).toBeNull();
    expect(await session.score(question, [40, 41])).toEqual(whole);
    // What was lost does not hide what comes after it.
    expect(meterDifference(await session.meter(), lost).evaluated).toBeGreaterThan(0);
  });

  test('is found out where it was restarted, and nothing is in its cache', async () => {
    await server.restart();
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

  test.each<[string, FaultyServerOptions, string]>([
    ['another model', { model: 'other' }, 'it serves other now, and fake-model before'],
    [
      'another model under its name',
      { weights: 'fake:8' },
      'it says of fake-model now fake:8, 512 tokens, and before fake:7, 512 tokens',
    ],
    ['a shorter window', { windowTokens: 256 }, 'it says of fake-model now fake:7, 256 tokens'],
  ])('is found out where it serves %s', async (_, options, why) => {
    await server.restart(options);
    await session.clear();
    const asked = 'model' in options ? engine.openSession('other') : session.generate(question, { maxTokens: 3 });
    await expect(asked).rejects.toMatchObject({ code: 'changed', message: expect.stringContaining(why) as string });
  });

  test('is found out where it reuses what it must not', async () => {
    await session.clear();
    server.always(
      '/v1/completions',
      cached(() => 16),
    );
    await expect(session.generate([...memories, ...question], { maxTokens: 3 })).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('reused 16 tokens of a prompt under a new name') as string,
    });
  });

  test('that lies about what it found is found out by its counters', async () => {
    const cacheScope = 'ann';
    await session.clear({ cacheScope });
    await session.evaluate(memories);
    await session.clear({ cacheScope });
    server.always(
      '/v1/completions',
      cached((tokens) => tokens - 16),
    );
    await session.evaluate(memories);
    server.mend();
    const audit = await engine.audit();
    expect(audit!.answers.reused).toBe(audit!.counters.reused! - 16);
  });
});
