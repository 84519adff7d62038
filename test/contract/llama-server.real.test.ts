import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { modelFiles } from '../../src/models/model-file-cache.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { llamaCpp } from '../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { llamaServer } from '../../src/engine/llama-server/llama-server-adapter.ts';
import type { TokenizeRequest } from '../../src/engine/engine.ts';
import { withOneThread } from '../fixtures/engines.ts';
import { describeLlamaServer, llamaServerProgram } from '../fixtures/llama-server-program.ts';
import { describeReal, entry } from '../fixtures/real-models.ts';
import { enginePromises } from './engine/promises.ts';
import { ofServer, type Subject } from './engine/subjects.ts';

const subject: Subject = {
  name: 'llama-server, the shipped model',
  opener: withOneThread(llamaServer.opener({ llamaServer: llamaServerProgram })),
  model: presetModels.model,
  otherModel: 'random:tiny-llama',
  capabilities: ofServer({
    checkpoints: true,
    cells: {
      layout: { layers: 8, heads: 2, headDimension: 32, keyType: 'F16', valueType: 'F16', valuesTransposed: false },
      rotary: { base: 10_000, scale: 1, pairing: 'norm', dimensions: 32, factors: null },
      sharedPositions: true,
      gaps: true,
    },
    missing: {},
  }),
  keyRounding: 2 ** -10,
  ends: 'likeliest',
  tellsIdsLater: true,
};

describeLlamaServer(subject.name, () => enginePromises(subject));

const SMOLLM2 = 'smollm2-135m';

/** Texts of users, and texts of a template that end in what merges with the name of a control token behind it. */
function requestsOf(file: string): TokenizeRequest[] {
  const texts = [...readFileSync(file, 'utf8').matchAll(/"(?:content|query)":"([^"\\]+)"/g)].map(([, text]) => text!);
  return [
    ...['<|im_start|>user\nWhat?<|im_end|>\n', 'Notes: a, b.<|im_end|>\n<|im_start|>assistant\n', '<|im_end|>'].map(
      (text) => ({ text, as: 'template' as const }),
    ),
    ...texts.slice(-600).map((text) => ({ text, as: 'text' as const })),
  ];
}

/** Its file repeats the token embedding as the output layer, which llama.cpp counts twice. */
const QWEN = 'qwen2.5-coder-0.5b';

describeLlamaServer('llama-server, models that people have', () => {
  describeReal('by its file, with an output layer that repeats the embedding', [QWEN], () => {
    it('is the model that the server has loaded', async () => {
      const request = { model: modelFiles(entry(QWEN))[0]!.path, contextTokens: 512, sessions: 1, threads: 1 };
      await using served = await llamaServer.opener({ llamaServer: llamaServerProgram }).open(request);
      expect(served.info.model.parameters).toBe(494_032_768);
    });
  });

  describeReal('by its file', [SMOLLM2], () => {
    it('makes of texts and templates the ids that its engine in this process makes', async () => {
      const requests = requestsOf('datasets/facts-en-dev.jsonl');
      expect(requests.length).toBeGreaterThan(200);
      const request = { model: modelFiles(entry(SMOLLM2))[0]!.path, contextTokens: 512, sessions: 1, threads: 1 };
      await using own = await llamaCpp.opener({}).open(request);
      await using served = await llamaServer.opener({ llamaServer: llamaServerProgram }).open(request);
      expect(await served.tokenize(requests)).toEqual(await own.tokenize(requests));
      // Asked again, when the templates' control tokens are known.
      expect(await served.tokenize(requests)).toEqual(await own.tokenize(requests));
    });
  });
});
