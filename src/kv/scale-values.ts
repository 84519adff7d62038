import { BenchError } from '../config/bench-error.ts';
import type { NumberType } from '../llm/state-format.ts';
import { kernels, workspace } from './vector-kernels.ts';

/** The kernel works on eight numbers at a time and reads up to seven behind the last: room for them. */
export const SLACK_BYTES = 32;

/**
 * Multiplies values by α from one place into another, with one rounding. α = 1 leaves every bit as it is.
 * @param target as long as the source; may be the source itself
 * @throws BenchError `bad-state` for values that are not finite, before or after
 */
export function scaleValues(source: Uint8Array, target: Uint8Array, type: NumberType, alpha: number): void {
  const memory = workspace();
  const chunkBytes = memory.length - SLACK_BYTES;
  for (let done = 0; done < source.length; done += chunkBytes) {
    const chunk = source.subarray(done, done + chunkBytes);
    memory.set(chunk);
    scaleInWorkspace(0, chunk.length, type, alpha);
    target.set(memory.subarray(0, chunk.length), done);
  }
}

/** The same on values that lie in the workspace already, with slack behind them. */
export function scaleInWorkspace(start: number, end: number, type: NumberType, alpha: number): void {
  if (alpha === 1) return;
  workspace().fill(0, end, end + SLACK_BYTES);
  const scale = type === 'F16' ? kernels.scaleF16 : kernels.scaleF32;
  if (scale(start, end, alpha) !== 0) throw unusableNumbers('values');
}

/** What is thrown where numbers of a state are damaged. */
export function unusableNumbers(what: 'keys' | 'values'): BenchError {
  const message = `a block of K/V holds ${what} that are not finite numbers, or too large`;
  return new BenchError('bad-state', message, 'delete it; it will be computed again');
}
