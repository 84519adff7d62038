import { z } from 'zod';
import { numbers, object } from './zod-helpers.ts';

/** How log-probabilities differ when a token sequence is evaluated in two pieces, or once more in one. */
export const paritySelfTest = object({
  prompts: z.number(),
  /** Places at which prompts were cut, over all prompts. */
  cuts: z.number(),
  /** All these evaluations gave the same bits as the first one in one piece. */
  bitwiseEqual: z.boolean(),
  /** Largest difference in ln p, where p ≥ 1e-6: the noise floor of this model on this machine. */
  largestDifference: z.number(),
  /** Repeated evaluations in one piece; a difference shows that the device is not deterministic. Missing in older runs. */
  repeated: object({ ...numbers('evaluations', 'largestDifference'), bitwiseEqual: z.boolean() }).exactOptional(),
});
export type ParitySelfTest = z.output<typeof paritySelfTest>;

/** Differences in ln p up to this bound count as noise: twice the largest of the self-test. */
export const parityBound = ({ largestDifference }: Pick<ParitySelfTest, 'largestDifference'>): number =>
  2 * largestDifference;

/** True if probabilities differ from those of the text: by any bit if the self-test was bitwise equal, else beyond noise. */
export function differsFromText(
  found: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
  tested: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
): boolean {
  return tested.bitwiseEqual ? !found.bitwiseEqual : found.largestDifference > parityBound(tested);
}
