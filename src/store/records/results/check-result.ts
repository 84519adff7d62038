import { z } from 'zod';
import { object } from '../schemas.ts';

/** The checks of a run, in the order in which they are shown. */
export const checkNames = [
  'token identity',
  'token accounting',
  'reuse',
  'cells',
  'numerical parity',
  'answers',
  'same memories',
  'clock',
  'sample',
  'negative controls',
  'isolation',
  'metrics',
  'embedder',
  'serving',
  'effect',
  'errors',
] as const;

/** One thing that a run verifies about itself. */
export const checkResult = object({
  check: z.enum(checkNames),
  /** `undecided`: these arms, this model or this n cannot decide it. */
  status: z.enum(['passed', 'failed', 'undecided']),
  /** One line that a reader can verify; the reason where undecided. */
  evidence: z.string(),
});

export type CheckName = (typeof checkNames)[number];
/** The outcome of one check of a run, with its evidence. */
export type CheckResult = z.output<typeof checkResult>;
