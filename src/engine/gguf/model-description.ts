import type { CapabilityName } from '../engine-capabilities.ts';
import type { KnownModel } from '../engine-info.ts';
import { kvSupport } from './model-check.ts';
import type { GgufHeader } from './gguf-header.ts';

/** Bits of one number: floats of 16 bits, or blocks of 32 numbers of 8 bits and a scale. */
const BITS = { f16: 16, q8_0: (34 * 8) / 32 } as const;

/** The port's description of a model, from the header of its file. */
export function describeModel(header: GgufHeader, sizeBytes: number): KnownModel {
  const { name, architecture, parameters, trainContextTokens, vocabularySize, layers, stopTokens, rope } = header;
  const kvBytes = (type: keyof typeof BITS): number => (header.kvNumbersPerToken * BITS[type]) / 8;
  return {
    name,
    architecture,
    parameters,
    sizeBytes,
    trainContextTokens,
    vocabularySize,
    layers,
    kvBytesPerToken: { f16: kvBytes('f16'), q8_0: kvBytes('q8_0') },
    attention:
      header.slidingWindowTokens === undefined ? 'full' : `sliding window of ${header.slidingWindowTokens} tokens`,
    rope: { base: rope.base, scaling: rope.scaling, scale: rope.frequencyScale },
    stopTokens,
    chatTemplate: header.chatTemplate ?? null,
  };
}

const NO_PREFIX_CACHE = 'a session in the process keeps nothing of what was truncated';

/** Capabilities that llama.cpp in this process lacks with a model, each with the reason. */
export function missingOf(header: GgufHeader): Readonly<Partial<Record<CapabilityName, string>>> {
  const support = kvSupport(header);
  if (support.supported) {
    const firstLayers = uncuttable(header);
    const queries = firstLayers ?? header.queriesObstacle;
    return {
      prefixCache: NO_PREFIX_CACHE,
      ...(firstLayers === undefined ? {} : { firstLayers }),
      ...(queries === undefined ? {} : { queries }),
    };
  }
  const { reason } = support;
  return {
    prefixCache: NO_PREFIX_CACHE,
    ...{ promptCache: reason, checkpoints: reason, cells: reason },
    ...{ sharedPositions: reason, shift: reason, firstLayers: reason, queries: reason },
  };
}

/** The reason why a model has no engine of its first layers; undefined where it has. */
function uncuttable({ layers, listByLayer }: GgufHeader): string | undefined {
  if (layers < 2) return 'it has one layer, whose keys and values know no context';
  return listByLayer === undefined ? undefined : `its header has a number for each layer under ${listByLayer}`;
}
