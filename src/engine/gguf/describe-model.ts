import type { KnownModel } from '../engine-info.ts';
import type { ModelHeader } from './model-header.ts';

/** Bits per number: blocks have 32 numbers of 8 bits and a scale of 16 bits. */
const Q8_0_BITS = (34 * 8) / 32;

/** Describes a model from the header of its file. */
export function describeModel(header: ModelHeader, sizeBytes: number): KnownModel {
  const { name, architecture, parameters, trainContextTokens, vocabularySize, layers, stopTokens } = header;
  const { kvNumbersPerToken, slidingWindowTokens, rotary } = header;
  const kvBytes = (bits: number): number => (kvNumbersPerToken * bits) / 8;
  return {
    name,
    architecture,
    parameters,
    sizeBytes,
    trainContextTokens,
    vocabularySize,
    layers,
    kvBytesPerToken: { f16: kvBytes(16), q8_0: kvBytes(Q8_0_BITS) },
    attention: slidingWindowTokens === undefined ? 'full' : `sliding window of ${slidingWindowTokens} tokens`,
    rope: { base: rotary.base, scaling: header.ropeScaling, scale: rotary.scale },
    stopTokens,
    chatTemplate: header.chatTemplate ?? null,
  };
}
