import { presetModels } from '../../src/models/preset-models.ts';
import { servedModel } from '../../src/config/bench-config.ts';
import type { EngineOpener, EngineRequest } from '../../src/engine/engine-request.ts';
import { modelFileOf } from '../../src/engine/gguf/model-file.ts';
import { OwnServer } from '../../src/engine/llama-server/own-server.ts';
import { openAi } from '../../src/engine/openai/openai-adapter.ts';
import { describeLlamaServer, llamaServerProgram } from '../fixtures/llama-server-program.ts';
import { enginePromises } from './engine/promises.ts';
import { ofOpenAi, type Subject } from './engine/subjects.ts';

/** Room for the last token of a score. */
const SPARE_TOKENS = 16;

/** The /v1 of a llama-server that is started for each engine, with a slot for each session. */
const opener: EngineOpener = {
  inspect: async (model) => {
    const { url, server } = await startServer({ model });
    await using _ = server;
    return await openAi.opener({ engineUrl: url }).inspect(servedModel);
  },
  fetch: async () => undefined,
  accelerators: async () => [],
  open: async (request) => {
    const { url, server } = await startServer(request);
    const engine = await openAi.opener({ engineUrl: url }).open({ ...request, model: servedModel });
    const close = engine[Symbol.asyncDispose].bind(engine);
    return Object.assign(engine, {
      [Symbol.asyncDispose]: async () => {
        await close();
        await server[Symbol.asyncDispose]();
      },
    });
  },
};

async function startServer({ model, sessions = 1, contextTokens = 1280 }: EngineRequest) {
  const request = { sessions, contextTokens: Math.max(contextTokens, 256) + SPARE_TOKENS, threads: 1 };
  const server = await OwnServer.start(llamaServerProgram, await modelFileOf(model), request);
  return { url: server.url, server };
}

const subject: Subject = {
  name: "openai, llama-server's own /v1, the shipped model",
  opener,
  model: presetModels.model,
  otherModel: 'random:tiny-llama',
  capabilities: ofOpenAi({
    logProbabilities: { next: 'all', continuation: 'steps' },
    prefixCache: { span: 'session', blockTokens: 1 },
    missing: {
      promptCache:
        'the server keeps one prompt per slot and does not tell users apart: --engine llama-server keeps prompts in files',
    },
  }),
  keyRounding: 2 ** -10,
  ends: 'likeliest',
  tellsIdsLater: true,
  hidesModel: true,
};

describeLlamaServer(subject.name, () => enginePromises(subject));
