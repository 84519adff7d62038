import { BenchError } from '../base/bench-error.ts';
import type { NumberType } from '../engine/sequence-state.ts';
import { wholeMemory } from './kernel-memory.ts';
import { kernels } from './vector-kernels.ts';

/** The kernel works on eight numbers at a time and changes up to seven behind the last: room for them. */
export const SLACK_BYTES = 32;

/**
 * Multiplies numbers by a factor where they lie, with one rounding.
 * @param address in the memory of the kernels, with slack behind the numbers, whose content is lost
 * @param what they are, for the message
 * @throws BenchError `bad-state` for numbers that are not finite, before or after
 */
export function scaleNumbers(
  address: number,
  sizeBytes: number,
  type: NumberType,
  factor: number,
  what: 'keys' | 'values',
): void {
  const end = address + sizeBytes;
  wholeMemory().fill(0, end, end + SLACK_BYTES);
  const scale = type === 'F16' ? kernels.scaleF16 : kernels.scaleF32;
  if (scale(address, end, factor) !== 0) throw unusableNumbers(what);
}

/** The error of numbers that are damaged. */
export function unusableNumbers(what: 'keys' | 'values'): BenchError {
  const message = `a block of K/V holds ${what} that are not finite numbers, or too large`;
  return new BenchError('bad-state', message, 'delete it; it will be computed again');
}
