import { z } from 'zod';
import { numbers, object } from './zod-helpers.ts';

/** A bound of an interval; JSON has null for an infinite one. */
const bound = (unbounded: number) => z.union([z.number(), z.literal(unbounded), z.null().transform(() => unbounded)]);

export const lowerBound = bound(-Infinity);
export const upperBound = bound(Infinity);

/** The median, and p95 where there are at least 100 values. */
export const quantiles = object({ p50: z.number(), p95: z.number().exactOptional() });

/**
 * A mean over items with its 95 % interval over users, or over the questions of a single user. With one observation of an
 * unbounded quantity the bounds are infinite (JSON: null).
 */
export const estimate = object({
  mean: z.number(),
  low: lowerBound,
  high: upperBound,
  ...numbers('n', 'users'),
  /** Only for durations. */
  p50: z.number().exactOptional(),
  /** Only for durations, if n ≥ 100. */
  p95: z.number().exactOptional(),
});

/** A mean paired difference with its 95 % interval over users. */
export const paired = { low: lowerBound, high: upperBound, ...numbers('delta', 'n', 'users') };

export type Quantiles = z.output<typeof quantiles>;
/** A mean with its 95 % interval. */
export type Estimate = z.output<typeof estimate>;
