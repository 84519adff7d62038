import { availableParallelism } from 'node:os';
import { BenchError } from '../../base/bench-error.ts';
import { type Window, numberBytes } from '../sequence-state.ts';
import type { EngineRequest } from '../engine-adapter.ts';
import type { ModelHeader } from './model-header.ts';

/** Memory reserved for this program itself. */
const PROGRAM_BYTES = 2 ** 28;
/**
 * Refuses more threads than cores, which would wait for each other for minutes, and a KV cache larger than free memory, for which
 * the system would kill the process.
 * @param freeBytes free memory, not counting the weights
 * @throws BenchError `bad-option`
 */
export function checkCapacity(
  { sessions = 1, kvType = 'F16', threads = 1 }: Omit<EngineRequest, 'model'>,
  { contextTokens, cellTokens }: Window,
  { kvNumbersPerToken }: Pick<ModelHeader, 'kvNumbersPerToken'>,
  freeBytes: number,
): void {
  const cores = availableParallelism();
  if (threads > cores) {
    const hint = `use at most ${cores}, or leave it out`;
    throw new BenchError('bad-option', `--threads ${threads}: this machine has ${cores} cores`, hint);
  }
  const bytes = sessions * cellTokens * kvNumbersPerToken * numberBytes(kvType);
  const left = Math.max(0, freeBytes - PROGRAM_BYTES);
  if (bytes <= left) return;
  const most = Math.floor((left / bytes) * contextTokens);
  const gib = (count: number): string => `${(count / 2 ** 30).toFixed(1)} GiB`;
  throw new BenchError(
    'bad-option',
    `--context-tokens ${contextTokens}: the KV of ${sessions} × ${cellTokens} tokens takes ${gib(bytes)}, but ` +
      `only ${gib(left)} of memory are free beside the weights`,
    most > 0 ? `use at most ${most}` : 'use a smaller model',
  );
}
