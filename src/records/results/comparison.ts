import { z } from 'zod';
import { lowerBound, upperBound } from './estimate.ts';

export const verdict = z.enum([
  'identical',
  'kept',
  'lost',
  'undecided',
  'within A/A noise',
  'faster',
  'slower',
  'not judged',
]);

/** An arm against the baseline, paired by item. */
export const comparison = z
  .object({
    a: z.string(),
    b: z.string(),
    /** The name of a metric of quality, the primary one first; or `ttftLogRatio`, or `evaluatedTokens`. */
    metric: z.string(),
    /** Mean of a − b, in the unit of the metric (a share of 1 for `%`); for `ttftLogRatio` of ln(a ÷ b). */
    delta: z.number(),
    /** 95 % interval over users. */
    low: lowerBound,
    high: upperBound,
    /** Items. */
    n: z.number(),
    users: z.number(),
    /** Two-sided, sign-flip over users; null where no test is made. */
    p: z.number().nullable(),
    /** Holm over the planned comparisons; null for others. */
    pAdjusted: z.number().nullable(),
    verdict,
    /**
     * The smallest true difference that these items would show four times in five; null where no pair differs, and where
     * nothing is tested.
     */
    detectable: z.number().nullable(),
    /** Items needed to decide, where undecided. */
    neededItems: z.number().exactOptional(),
    /** Items on which `a` has the better value, the worse, the same. */
    wins: z.number(),
    losses: z.number(),
    ties: z.number(),
  })
  .readonly();

export type Verdict = z.output<typeof verdict>;
export type Comparison = z.output<typeof comparison>;
