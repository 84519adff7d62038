import { z } from 'zod';
import { list, object } from '../schemas.ts';
import { machineKind } from '../machine-kind.ts';

/** A kind of machine that took turns of a run, and how many users it asked. */
export const usedMachine = machineKind.unwrap().extend({ users: z.number() }).readonly();

/** A test whether users of one kind of machine have other values than users of another. */
export const machineDifference = object({
  arm: z.string(),
  /** The primary metric, or `ttftLogRatioAll`: first tokens against the baseline's, paired within a user. */
  metric: z.string(),
  /** By kind of machine, in the order of `machines`; null where none of its users has a value. */
  means: list(z.number().nullable()),
  /** Of 10,000 exchanges of users between the machines. */
  p: z.number(),
  /** Holm, over all tests of machines. */
  pAdjusted: z.number(),
});

export type MachineDifference = z.output<typeof machineDifference>;
