import type { EngineAdapter } from '../engine-adapter.ts';
import { readGgufHeader } from './gguf-header.ts';
import { listAccelerators } from './list-accelerators.ts';
import { LlamaCppEngine } from './llama-cpp-engine.ts';
import { type LlamaCppOptions, llamaCppOptions } from './llama-cpp-options.ts';
import { checkModelFile } from './model-check.ts';
import { describeModel, missingOf } from './model-description.ts';
import { modelFileOf } from './model-file.ts';

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
      const header = await readGgufHeader(path);
      return { model: describeModel(header, sizeBytes), missing: missingOf(header) };
    },
    fetch: modelFileOf,
    async open(request, { signal } = {}) {
      return LlamaCppEngine.open(await modelFileOf(request.model), request, { ...options, signal });
    },
    accelerators: listAccelerators,
  }),
};
