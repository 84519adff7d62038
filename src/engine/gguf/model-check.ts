import { accessSync, constants, statSync } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import type { GgufHeader } from './gguf-header.ts';

/** Architectures whose K/V layout and rotation were measured here, bit by bit. */
const KV_ARCHITECTURES = ['llama', 'qwen2', 'qwen3'];

/** Support for cutting, moving and joining the K/V of a model, or the reason against it. */
export type KvSupport = { readonly supported: true } | { readonly supported: false; readonly reason: string };

/**
 * Decides if arms that inject K/V can run on a model; every model that loads can run those that do not.
 * The reason is one line that names what is in the way.
 */
export function kvSupport(
  model: Pick<
    GgufHeader,
    | 'architecture'
    | 'kvHeads'
    | 'headDimension'
    | 'valueDimension'
    | 'rope'
    | 'positionDimensions'
    | 'slidingWindowTokens'
  >,
): KvSupport {
  const { architecture, rope } = model;
  if (!KV_ARCHITECTURES.includes(architecture)) {
    const known = KV_ARCHITECTURES.join(', ');
    return unsupported(`the K/V layout of architecture ${architecture} is not supported (supported: ${known})`);
  }
  if (rope.scaling !== 'none' && rope.scaling !== 'linear') {
    return unsupported(`keys of a model with ${rope.scaling} RoPE scaling cannot be re-positioned`);
  }
  if (model.positionDimensions > 1) {
    return unsupported(`its tokens have positions in ${model.positionDimensions} dimensions (M-RoPE)`);
  }
  if (model.slidingWindowTokens !== undefined) {
    return unsupported(`its layers see ${model.slidingWindowTokens} tokens back and no further (sliding window)`);
  }
  if (model.kvHeads === undefined) return unsupported('its layers differ in their number of K/V heads');
  if (model.headDimension !== model.valueDimension) return unsupported('its keys and values differ in size');
  return { supported: true };
}

function unsupported(reason: string): KvSupport {
  return { supported: false, reason };
}

/**
 * Refuses a model file that cannot be read or would not fit into memory, before llama.cpp sees it.
 * @param availableBytes memory that this process may still take
 * @returns the size of the file, in bytes
 * @throws BenchError `bad-model`
 */
export function checkModelFile(path: string, availableBytes: number): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) {
    throw new BenchError('bad-model', `${path}: no such model file`, 'name a GGUF file: --model FILE');
  }
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new BenchError('bad-model', `${path} cannot be read: ${code}`, 'check the path and its permissions', cause);
  }
  if (stats.size > availableBytes) {
    throw new BenchError(
      'bad-model',
      `${path}: ${stats.size} bytes, and ${availableBytes} bytes of memory are free`,
      'take a smaller model or a stronger quantisation of this one',
    );
  }
  return stats.size;
}
