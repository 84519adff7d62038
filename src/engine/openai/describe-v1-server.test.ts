import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { fakeVocabulary } from '../../../test/fixtures/fake-engine/fake-vocabulary.ts';
import { FakeLlamaServer } from '../../../test/fixtures/fake-llama-server/fake-llama-server.ts';
import { FakeOpenAiServer } from '../../../test/fixtures/fake-openai-server/fake-openai-server.ts';
import { ServerConnection } from '../http/server-connection.ts';
import type { TokenRoutes } from '../http/server-tokenizer.ts';
import { findTokenRoutes } from './describe-v1-server.ts';

let server: FakeOpenAiServer;
let routes: TokenRoutes;
beforeAll(async () => {
  server = await FakeOpenAiServer.start(await fakeAdapter.opener({}).open({ model: 'fake' }));
  const connection = new ServerConnection({ url: server.url, program: 'the server' });
  ({ routes } = (await findTokenRoutes(connection, 'fake-model', {}))!);
});
afterAll(() => server[Symbol.asyncDispose]());

const control = fakeVocabulary.controlTokens.map((_, id) => id);

test.each(['</s>', '<|im_start|>user', 'a</s></s><s>b', 'User: <|im_end|>\n<|im_start|>', '<<|im_end|>>', '2 < 3 > 1'])(
  '%j has no control tokens unless parsed, and decodes to the same text',
  async (text) => {
    const plain = await routes.encode(text, { parse: false }, {});
    expect(plain.filter((id) => control.includes(id))).toEqual([]);
    expect(await routes.decode(plain, {})).toBe(text);
    const parsed = await routes.encode(text, { parse: true }, {});
    const names = fakeVocabulary.controlTokens.some((name) => text.includes(name));
    expect(parsed.some((id) => control.includes(id))).toBe(names);
    expect(await routes.decode(parsed, {})).toBe(text);
  },
);

test('llama-server is recognised, although it answers a vLLM request with an empty list', async () => {
  const engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  await using llama = await FakeLlamaServer.start(engine, { slotsFolder: tmpdir() });
  const found = await findTokenRoutes(new ServerConnection({ url: llama.url, program: 'the server' }), 'fake', {});
  const ids = await found!.routes.encode('2 < 3', { parse: false }, {});
  expect([ids.length > 0, await found!.routes.decode(ids, {})]).toEqual([true, '2 < 3']);
});

test('BOS is added once, at the start', async () => {
  const text = 'x</s>y';
  const plain = await routes.encode(text, { parse: false }, {});
  expect(await routes.encode(text, { parse: false, add: true }, {})).toEqual([fakeVocabulary.bos, ...plain]);
});
