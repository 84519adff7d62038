import { BenchError, didYouMean } from '../base/bench-error.ts';
import type { EngineAdapter } from './engine-adapter.ts';
import { llamaCpp } from './llama-cpp/llama-cpp-adapter.ts';
import { llamaServer } from './llama-server/llama-server-adapter.ts';
import { openAi } from './openai/openai-adapter.ts';

/** All engine adapters; the first is the default. */
export const adapters: readonly EngineAdapter[] = [llamaCpp, llamaServer, openAi];

/** Finds an adapter by name. @throws BenchError `bad-option` for an unknown name, suggesting the nearest */
export function adapterNamed(name: string): EngineAdapter {
  const adapter = adapters.find((candidate) => candidate.name === name);
  if (adapter !== undefined) return adapter;
  const known = adapters.map((candidate) => candidate.name);
  throw new BenchError(
    'bad-option',
    `--engine ${name}: no such engine${didYouMean(name, known)}`,
    `known: ${known.join(', ')}`,
  );
}
