import { BenchError } from '../../base/bench-error.ts';
import type { Accelerator } from '../engine-request.ts';
import { acceleratorsOf } from './gpu-advice.ts';
import { LlamaBackend } from './llama-backend.ts';

/** Starts each accelerator's interface that this platform may have, and asks for its devices. */
export async function listAccelerators(): Promise<readonly Accelerator[]> {
  const found: Accelerator[] = [];
  for (const name of acceleratorsOf(process.platform, process.arch)) {
    try {
      const { names, memoryBytes, freeBytes } = await (await LlamaBackend.get(name)).devices();
      found.push({ name, devices: names, memoryBytes, freeBytes, obstacle: null });
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      const obstacle = { why: error.message, advice: error.hint };
      found.push({ name, devices: [], memoryBytes: 0, freeBytes: 0, obstacle });
    }
  }
  return found;
}
