import { z } from 'zod';
import { paired } from './estimate.ts';
import { list, numbers, object } from './zod-helpers.ts';

const name = z.string().normalize('NFC').regex(/\S/, 'expected a name, not blank');

/**
 * A contrast that data declare, so that it is planned before any run on them: `arm` − `reference` on the first category,
 * minus the same on the second.
 */
export const plannedContrast = z
  .strictObject({
    arm: name,
    reference: name,
    categories: z.tuple([name, name]),
    /** A metric in %. */
    metric: name,
    /** The assumed share of items on which the two arms differ, for the power before the run. */
    discordance: z.number().gt(0).max(1).default(0.3),
  })
  .refine(({ arm, reference }) => arm !== reference, { path: ['reference'], error: 'expected another arm' })
  .refine(({ categories: [a, b] }) => a !== b, { path: ['categories'], error: 'expected two different categories' })
  .readonly();

export type PlannedContrast = z.output<typeof plannedContrast>;

const measuredContrast = object({
  state: z.literal('measured'),
  ...paired,
  /** Two-sided, sign-flip over users; null in an unfinished run. */
  p: z.number().nullable(),
  /** The smallest true contrast that these items show with power 0.8, by their own spread. */
  detectable: z.number().nullable(),
  /** Without correction for several models; `higher`: the arm gains more, or loses less, on the first category. */
  verdict: z.enum(['higher', 'lower', 'undecided', 'too few users', 'not judged']),
  /** The arm minus the reference on each category, paired by item. */
  parts: list(object({ category: z.string(), ...paired, ...numbers('wins', 'losses', 'ties') })),
  /** The same contrast in ln p per token of the gold; exploratory. Null if it was not scored. */
  goldLogProb: object(paired).nullable(),
});

/** The planned contrast of a run: what was planned before its first turn, and what its turns show. */
export const contrastResults = object({
  planned: plannedContrast,
  /** Items drawn of each category, and the smallest contrast that they can show with power 0.8; null without items. */
  before: object({ items: list(z.number()), detectable: z.number().nullable() }),
  found: z.union([measuredContrast, object({ state: z.literal('absent'), why: z.string() })]),
});

export type MeasuredContrast = z.output<typeof measuredContrast>;
export type ContrastResults = z.output<typeof contrastResults>;
