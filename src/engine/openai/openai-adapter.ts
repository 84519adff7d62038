import { z } from 'zod';
import { apiKey, engineKeyVariable } from '../../config/api-key.ts';
import type { EngineAdapter } from '../engine-adapter.ts';
import type { CallOptions } from '../engine-session.ts';
import { type Patience, serverAddress, ServerConnection } from '../http/server-connection.ts';
import { OpenAiEngine } from './openai-engine.ts';
import { type ProbedServer, probeServer } from './probe-server.ts';
import { describeV1Server } from './describe-v1-server.ts';

/** Options of the openai adapter, named as on the command line. */
const openAiOptions = z.strictObject({
  /** Address of the server, such as `http://127.0.0.1:8000`, with or without `/v1`. */
  engineUrl: z.string().optional(),
  allowRemote: z.boolean().optional(),
  engineModel: z.string().optional(),
});

type OpenAiOptions = Readonly<z.output<typeof openAiOptions>>;

/**
 * A server with OpenAI's /v1: vLLM, SGLang, llama-server. Prompts are sent as token ids; KV stays in the server.
 *
 * @example
 * const opener = openAi.opener({ engineUrl: 'http://127.0.0.1:8000', engineModel: 'my-model' });
 * await using engine = await opener.open({ model: 'served', sessions: 2 });
 */
export const openAi: EngineAdapter<OpenAiOptions> = {
  name: 'openai',
  summary: 'a server with /v1/completions, such as vLLM: --engine-url and --engine-model; only for text arms',
  options: openAiOptions,
  opener: (options) => openerFor(options),
};

/** Binds the adapter to its options. @param patience shortened by tests */
export function openerFor(
  { engineUrl, allowRemote, engineModel: name }: OpenAiOptions,
  patience?: Patience,
): ReturnType<EngineAdapter<OpenAiOptions>['opener']> {
  const probe = async (file: string, options: CallOptions): Promise<ProbedServer> => {
    const url = serverAddress(openAi.name, engineUrl, allowRemote).replace(/\/v1\/*$/, '');
    const key = apiKey(url, engineKeyVariable, process.env);
    const server = { url, program: 'the server', key, keyVariable: engineKeyVariable };
    return probeServer(
      await describeV1Server(new ServerConnection(server, patience), { name, file }, options),
      options,
    );
  };
  return {
    inspect: async (model) => {
      const { server, capabilities } = await probe(model, {});
      return { model: server.description, missing: capabilities.missing };
    },
    fetch: () => Promise.resolve(undefined),
    open: async (request, options = {}) => OpenAiEngine.open(await probe(request.model, options), request, options),
    accelerators: () => Promise.resolve([]),
  };
}
