import { randomModelPrefix } from '../../config/bench-config.ts';
import { type Accelerator, type EngineAdapter, sessionWindow } from '../engine-adapter.ts';
import { describeModel, readModelHeader } from '../gguf/model-header.ts';
import { LlamaCppEngine } from './llama-cpp-engine.ts';
import { type LlamaCppOptions, llamaCppOptions } from './load-model.ts';
import { checkModelFile, hashModelFile, resolveModelFile } from '../gguf/model-file.ts';
import { missingCapabilities } from '../gguf/missing-capabilities.ts';
import { requireModelTrial } from './fork-model-trial.ts';
import { BenchError } from '../../base/bench-error.ts';
import { llamaBackend, supportedAccelerators } from './llama-backend.ts';

/**
 * llama.cpp in this process, through node-llama-cpp. Reads GGUF files, downloads `hf:` names, makes `random:SHAPE` models.
 *
 * @example
 * await using engine = await llamaCpp.opener({}).open({ model: 'random:tiny-llama', sessions: 2 });
 */
export const llamaCpp: EngineAdapter<LlamaCppOptions> = {
  name: 'llama-cpp',
  summary: 'llama.cpp in this process, through node-llama-cpp',
  options: llamaCppOptions,
  opener: (options) => ({
    async inspect(model, contextTokens) {
      const path = await resolveModelFile(model);
      const sizeBytes = checkModelFile(path, process.availableMemory());
      const header = readModelHeader(path);
      const { weights } = header;
      const window = sessionWindow({ contextTokens }, header.trainContextTokens);
      return { model: describeModel(header, sizeBytes), weights, missing: missingCapabilities(header, window) };
    },
    fetch: resolveModelFile,
    async open(request, { signal } = {}) {
      const path = await resolveModelFile(request.model, { signal });
      checkModelFile(path, process.availableMemory());
      readModelHeader(path);
      const modelSha256 = await hashModelFile(path, signal);
      // Random models are made by this program and need no trial.
      if (!request.model.startsWith(randomModelPrefix)) {
        await requireModelTrial(path, modelSha256, { llamaCpp: options, signal });
      }
      return LlamaCppEngine.open(path, request, { ...options, signal, modelSha256 });
    },
    accelerators: listAccelerators,
  }),
};

/** Starts each accelerator backend supported on this platform, and lists its devices. */
async function listAccelerators(): Promise<readonly Accelerator[]> {
  const found: Accelerator[] = [];
  for (const name of supportedAccelerators(process.platform, process.arch)) {
    try {
      const { names, memoryBytes, freeBytes } = await (await llamaBackend(name)).devices();
      found.push({ name, devices: names, memoryBytes, freeBytes, obstacle: null });
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      const obstacle = { why: error.message, advice: error.hint };
      found.push({ name, devices: [], memoryBytes: 0, freeBytes: 0, obstacle });
    }
  }
  return found;
}
