import { z } from 'zod';
import { numbers, object } from './zod-helpers.ts';

/** Differences of one token sequence that is evaluated in different pieces, and again as it was. */
export const paritySelfTest = object({
  prompts: z.number(),
  /** Evaluations in two pieces, over all prompts. */
  cuts: z.number(),
  /** Every piecewise evaluation, and every repeated one, gave the bits of the whole one. */
  bitwiseEqual: z.boolean(),
  /** Largest difference in ln p, where p ≥ 1e-6: the noise floor of this model on this machine. */
  largestDifference: z.number(),
  /** Evaluations in one piece, again: a device that differs here computes otherwise from run to run. Missing in runs of before. */
  repeated: object({ ...numbers('evaluations', 'largestDifference'), bitwiseEqual: z.boolean() }).exactOptional(),
});

export type ParitySelfTest = z.output<typeof paritySelfTest>;

/** The least difference in ln p that is called one: twice the largest that the self-test saw. */
export const parityBound = ({ largestDifference }: Pick<ParitySelfTest, 'largestDifference'>): number =>
  2 * largestDifference;

/** True where probabilities differ from those of the text: in a bit where the self-test found none that does, else by more than its noise. */
export function differsFromText(
  found: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
  tested: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
): boolean {
  return tested.bitwiseEqual ? !found.bitwiseEqual : found.largestDifference > parityBound(tested);
}
