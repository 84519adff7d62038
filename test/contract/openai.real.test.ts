import { presetModels } from '../../src/models/default-models.ts';
import { resolveModelFile } from '../../src/engine/gguf/model-file.ts';
import { startLlamaServer } from '../../src/engine/llama-server/llama-server-process.ts';
import { openAi } from '../../src/engine/openai/openai-adapter.ts';
import { onOwnServer } from '../fixtures/fake-server.ts';
import { describeLlamaServer, llamaServerProgram } from '../fixtures/llama-server-program.ts';
import { enginePromises } from './engine/promises.ts';
import { ofOpenAi, type Subject } from './engine/subjects.ts';

/** Space for the last token of a score. */
const SPARE_TOKENS = 16;

/** The /v1 of a llama-server that is started for each engine, with a slot for each session. */
const opener = onOwnServer(async ({ model, sessions = 1, contextTokens = 1280 }) => {
  const request = { sessions, contextTokens: Math.max(contextTokens, 256) + SPARE_TOKENS, threads: 1 };
  const server = await startLlamaServer(llamaServerProgram, await resolveModelFile(model), request);
  return { opener: openAi.opener({ engineUrl: server.url }), server };
}, 1280);

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
        'the server caches one prompt per slot and does not isolate users: use --engine llama-server, which saves prompts to files',
    },
  }),
  keyRounding: 2 ** -10,
  ends: 'likeliest',
  tellsIdsLater: true,
  hidesModel: true,
};

describeLlamaServer(subject.name, () => enginePromises(subject));
