import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../../base/bench-error.ts';
import { fetchHubFile } from '../../models/hub/hub-cache.ts';
import { hubPrefix, parseHubReference } from '../../models/hub/hub-reference.ts';
import { modelParts } from './gguf-file.ts';
import { randomModelPath } from './random-model/random-model.ts';
import { hubAccess } from '../../models/hub/hub-access.ts';
import type { DownloadOptions } from '../../models/hub/download-file.ts';
import { type Window, numberBytes } from '../sequence-state.ts';
import type { EngineRequest } from '../engine-adapter.ts';
import type { ModelHeader } from './model-header.ts';

const SPLIT = /-\d{5}-of-\d{5}\.gguf$/;

/**
 * Returns the local file of a model. Downloads `hf:org/repo/file.gguf` into the cache, generates `random:SHAPE`, and returns any
 * other name unchanged, as a path.
 *
 * @throws BenchError `not-found` if the hub has no such file, `bad-option` for a malformed name and for a part of a split model;
 * `network`, `disk`, `bad-data` as `fetchHubFile`
 */
export async function resolveModelFile(name: string, options: DownloadOptions = {}): Promise<string> {
  if (!name.startsWith(hubPrefix)) return randomModelPath(name);
  const { file, ...repository } = parseHubReference(name);
  if (file?.endsWith('.gguf') !== true) {
    throw new BenchError('bad-option', `--model ${name}: names no GGUF file`, 'write hf:org/repo/file.gguf');
  }
  if (SPLIT.test(file)) {
    throw new BenchError(
      'bad-option',
      `--model ${name}: one part of a model that is split into several files`,
      'choose a whole file, or download all parts and join them with llama-gguf-split --merge',
    );
  }
  const path = await fetchHubFile(repository, file, hubAccess(), options);
  if (path !== undefined) return path;
  throw new BenchError(
    'not-found',
    `--model ${name}: the hub has no such file`,
    'check organisation, repository, revision and path: hf:org/repo@revision/file.gguf',
  );
}

/** SHA-256 of a model's file, or of all its parts in order, in hex. @throws the signal's reason */
export async function hashModelFile(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256');
  for (const part of modelParts(path)) {
    await pipeline(createReadStream(part), hash, { end: false, ...(signal && { signal }) });
  }
  return hash.digest('hex');
}

/**
 * Refuses a model file that does not exist or is larger than available memory, before llama.cpp opens it.
 * @returns the total size of the file or its parts, in bytes
 * @throws BenchError `bad-model`
 */
export function checkModelFile(path: string, availableBytes: number): number {
  const bytes = modelParts(path).reduce((sum, part) => sum + fileBytes(part), 0);
  if (bytes <= availableBytes) return bytes;
  throw new BenchError(
    'bad-model',
    `${path}: ${bytes} bytes, but only ${availableBytes} bytes of memory are free`,
    'use a smaller model or a stronger quantisation of this one',
  );
}

function fileBytes(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return stats.size;
  throw new BenchError('bad-model', `${path}: no such model file`, 'name a GGUF file: --model FILE');
}

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
