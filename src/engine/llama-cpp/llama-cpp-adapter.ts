import { randomModelPrefix } from '../../config/bench-config.ts';
import type { EngineAdapter } from '../engine-request.ts';
import { readGgufHeader } from '../gguf/gguf-header.ts';
import { listAccelerators } from './list-accelerators.ts';
import { LlamaCppEngine } from './llama-cpp-engine.ts';
import { type LlamaCppOptions, llamaCppOptions } from './llama-cpp-options.ts';
import { checkModelFile } from '../gguf/model-file.ts';
import { describeModel, missingCapabilities } from '../gguf/model-description.ts';
import { modelFileOf, sha256OfModel } from '../gguf/model-file.ts';
import { requireTried } from './trial/model-trial.ts';

/**
 * llama.cpp in this process, by way of node-llama-cpp. Reads GGUF files, fetches `hf:` names, makes `random:SHAPE` models.
 *
 * @example
 * await using engine = await llamaCpp.opener({}).open({ model: 'random:tiny-llama', sessions: 2 });
 */
export const llamaCpp: EngineAdapter<LlamaCppOptions> = {
  name: 'llama-cpp',
  summary: 'llama.cpp in this process, by way of node-llama-cpp',
  options: llamaCppOptions,
  opener: (options) => ({
    async inspect(model) {
      const path = await modelFileOf(model);
      const sizeBytes = checkModelFile(path, process.availableMemory());
      const header = readGgufHeader(path);
      return { model: describeModel(header, sizeBytes), missing: missingCapabilities(header) };
    },
    fetch: modelFileOf,
    async open(request, { signal } = {}) {
      const path = await modelFileOf(request.model);
      checkModelFile(path, process.availableMemory());
      readGgufHeader(path);
      const modelSha256 = await sha256OfModel(path, signal);
      // Models of random weights are of this program's own making.
      if (!request.model.startsWith(randomModelPrefix)) {
        await requireTried(path, modelSha256, { llamaCpp: options, signal });
      }
      return LlamaCppEngine.open(path, request, { ...options, signal, modelSha256 });
    },
    accelerators: listAccelerators,
  }),
};
