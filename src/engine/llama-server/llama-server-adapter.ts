import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { randomModelPrefix } from '../../config/bench-config.ts';
import { hubPrefix } from '../../models/hub/hub-reference.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineAdapter, EngineRequest } from '../engine-adapter.ts';
import { resolveModelFile } from '../gguf/model-file.ts';
import { serverAddress, ServerConnection } from '../http/server-connection.ts';
import { LlamaServerEngine } from './llama-server-engine.ts';
import { startLlamaServer } from './llama-server-process.ts';
import { probeServer, type Endpoint } from './probe-server.ts';
import type { DownloadOptions } from '../../models/hub/download-file.ts';

/** Options of the llama-server adapter, named as on the command line. */
const llamaServerOptions = z.strictObject({
  /** Address of the server, such as `http://127.0.0.1:8080`. */
  engineUrl: z.string().optional(),
  allowRemote: z.boolean().optional(),
  /** The server's `--slot-save-path`, as a path on this machine. */
  slotsFolder: z.string().optional(),
  /** Path of a llama-server program to start for the run, and to end with it. */
  llamaServer: z.string().optional(),
});

export type LlamaServerOptions = Readonly<z.output<typeof llamaServerOptions>>;

/**
 * A running llama-server, or one started for the run. Exchanges token ids, and moves KV through slot files.
 *
 * @example
 * const opener = llamaServer.opener({ engineUrl: 'http://127.0.0.1:8080' });
 * await using engine = await opener.open({ model: 'served', sessions: 2 });
 */
export const llamaServer: EngineAdapter<LlamaServerOptions> = {
  name: 'llama-server',
  summary: "llama.cpp's own server: --engine-url; injecting KV also needs --slots-folder and --model FILE",
  options: llamaServerOptions,
  opener: (options) => ({
    async inspect(model) {
      const endpoint = await findServer({ model }, options);
      try {
        const { served, capabilities } = await probeServer(endpoint);
        return { model: served.description, missing: capabilities.missing };
      } finally {
        await endpoint.close();
      }
    },
    fetch: localFile,
    async open(request, callOptions) {
      const endpoint = await findServer(request, options, callOptions);
      try {
        return await LlamaServerEngine.open(endpoint, request, callOptions);
      } catch (error) {
        await endpoint.close();
        throw error;
      }
    },
    accelerators: async () => [],
  }),
};

async function findServer(
  request: EngineRequest,
  { engineUrl, slotsFolder, allowRemote, llamaServer: program }: LlamaServerOptions,
  options: CallOptions = {},
): Promise<Endpoint> {
  const name = request.model;
  const file = await localFile(name, options);
  const connect = (url: string): ServerConnection => new ServerConnection({ url, program: llamaServer.name });
  if (program === undefined) {
    const url = serverAddress(llamaServer.name, engineUrl, allowRemote);
    return { connection: connect(url), name, file, slotsFolder, close: () => Promise.resolve() };
  }
  const others = { '--engine-url': engineUrl, '--slots-folder': slotsFolder, '--allow-remote': allowRemote };
  const other = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
  if (other !== undefined) {
    const message = `${other}: cannot be used with --llama-server, which starts a server with its own address and folder`;
    throw new BenchError('bad-option', message, `drop ${other}, or --llama-server`);
  }
  if (file === undefined) {
    const message = `--model ${name}: not a file to start a server with`;
    throw new BenchError('bad-option', message, 'name a GGUF file: --model FILE');
  }
  const server = await startLlamaServer(program, file, request, options);
  const close = (): Promise<void> => server[Symbol.asyncDispose]();
  return { connection: connect(server.url), name, file, slotsFolder: server.slotsFolder, close };
}

/** The local file that `--model` names; undefined for a server's name of the model. */
async function localFile(model: string, download?: DownloadOptions): Promise<string | undefined> {
  const isFile = isAbsolute(model) || [hubPrefix, randomModelPrefix].some((prefix) => model.startsWith(prefix));
  return isFile ? await resolveModelFile(model, download) : undefined;
}
