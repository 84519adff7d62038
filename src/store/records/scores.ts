import { z } from 'zod';
import { list, object } from './schemas.ts';

/** Classes of wrong answers, in the order in which they are tried. */
export const wrongClasses = ['wrong-abstention', 'stale', 'confused', 'near-copy', 'fabricated', 'off-topic'] as const;

/** Stages of the evidence funnel, in order. */
export const funnelStages = ['stored', 'retrieved', 'kept', 'sequence', 'answered'] as const;

const score = z.number().nullable();

/** The scores of one turn, each 0 to 1 but those of the calling program; null where a metric does not apply to the item. */
export const scores = object({
  exactMatch: score,
  /** Missing in turns of older runs. */
  contains: score.default(null),
  tokenF1: score,
  /** Of data that are judged by it alone; defined of absent items, too. */
  locomoF1: score.default(null),
  memoryRecall: score,
  rougeL: score,
  bleu: score,
  abstention: score,
  taskSuccess: score,
  /** Values of the calling program's metrics, by name; missing without any. */
  own: z.record(z.string(), score).readonly().exactOptional(),
  /** Null for a right answer. */
  wrongClass: z.enum(wrongClasses).nullable(),
  /** The first stage of the evidence funnel that failed; null where none did, and where there is no funnel. */
  failedStage: z.enum(funnelStages).nullable(),
  /** Stages that the item passed, up to the first failure; empty of an absent item, and where the evidence is unknown. */
  passedStages: list(z.enum(funnelStages)),
  /** Rank, from 1, of the evidence that was retrieved last. */
  evidenceRank: z.number().nullable(),
});

export type WrongClass = (typeof wrongClasses)[number];
export type FunnelStage = (typeof funnelStages)[number];
export type Scores = z.output<typeof scores>;
