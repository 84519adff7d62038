import { z } from 'zod';
import { object } from '../schemas.ts';
import { lowerBound, upperBound } from './estimate.ts';

export const verdict = z.enum([
  'identical',
  'kept',
  'lost',
  'undecided',
  'within A/A noise',
  'faster',
  'slower',
  'fewer',
  'more',
  /** Fewer than ten: they stand for nobody else. */
  'too few users',
  /** No test of it was planned. */
  'not judged',
]);

/** Costs that are compared beside metrics of quality: over the cache hits of the primary arm, and over all turns. */
export const costNames = ['ttftLogRatio', 'evaluatedTokens', 'ttftLogRatioAll', 'evaluatedTokensAll'] as const;

/** An arm against another, paired by item: quality against the baseline, costs against this and against prefix caching. */
export const comparison = object({
  a: z.string(),
  b: z.string(),
  /** The name of a metric of quality, the primary one first; or one of `costNames`. */
  metric: z.string(),
  /** Mean of a − b, in the unit of the metric (a share of 1 for `%`); for log-ratios of ln(a ÷ b). */
  delta: z.number(),
  /** 95 % interval over users; over the questions of a single one. */
  low: lowerBound,
  high: upperBound,
  /** Of costs: means of both over the same turns, geometric of times (ms). Missing in older runs. */
  means: object({ a: z.number(), b: z.number() }).exactOptional(),
  /** Items. */
  n: z.number(),
  users: z.number(),
  /** Two-sided, sign-flip over users; null where no test was planned. */
  p: z.number().nullable(),
  /** Holm over the planned comparisons of this metric; null for others. */
  pAdjusted: z.number().nullable(),
  /** One-sided p of "the loss is the margin or more", Holm over the same; null for costs and for others. */
  pKept: z.number().nullable().default(null),
  verdict,
  /**
   * The smallest true difference that these items would show four times in five; null where no pair differs, and where
   * nothing is tested.
   */
  detectable: z.number().nullable(),
  /** Items with which arms that do not differ would be called kept four times in five; where undecided and known. */
  neededItems: z.number().exactOptional(),
  /** Items on which `a` has the better value, the worse, the same. */
  wins: z.number(),
  losses: z.number(),
  ties: z.number(),
});

export type Verdict = z.output<typeof verdict>;
/** Two arms compared by one metric, over the same items. */
export type Comparison = z.output<typeof comparison>;
export type CostName = (typeof costNames)[number];
