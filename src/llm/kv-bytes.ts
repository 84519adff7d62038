import type { GgufHeader } from './model-info.ts';

/** What keys and values can be kept in: floats of 16 bits, or blocks of 32 numbers of 8 bits and a scale. */
export const kvTypes = ['f16', 'q8_0'] as const;

const BITS: Readonly<Record<(typeof kvTypes)[number], number>> = { f16: 16, q8_0: (34 * 8) / 32 };

/** Bytes of K/V that one token of a memory takes in all layers, without what a state file says of each cell. */
export function kvBytesPerToken(
  { kvNumbersPerToken }: Pick<GgufHeader, 'kvNumbersPerToken'>,
  type: keyof typeof BITS,
): number {
  return (kvNumbersPerToken * BITS[type]) / 8;
}
