import { z } from 'zod';
import { list, object } from '../schemas.ts';

const count = z.number();

/** Results of asking a judge about the answers of a run, beside its verdicts, which stand in the turns. */
export const judgeProbe = object({
  /** As its server calls it. */
  model: z.string(),
  /** The fixed text that it was asked with. */
  prompt: z.string(),
  /** Distinct answers that were sent; those whose verdict was known. */
  asked: count,
  known: count,
  /** Answers without a verdict, by the reason; `first` is the message of the first. */
  failed: list(object({ reason: z.string(), answers: count, first: z.string() })),
});

/** Agreement of two verdicts on `n` answers: the share on which they are the same, and that beyond chance. */
export const verdictAgreement = object({
  n: count,
  share: z.number(),
  /** Cohen's kappa; null where both say the same of every answer, so that nothing is left to agree on. */
  kappa: z.number().nullable(),
});

/** A judge in the results of a run: its verdicts are the metric `judge` of each arm. */
export const judgeResults = judgeProbe
  .unwrap()
  .extend({
    /** With `contains`, over all arms; null without an answer that both judge. */
    agreement: verdictAgreement.nullable(),
    arms: list(object({ arm: z.string(), judged: count, unjudged: count, agreement: verdictAgreement.nullable() })),
  })
  .readonly();

export type JudgeProbe = z.output<typeof judgeProbe>;
export type VerdictAgreement = z.output<typeof verdictAgreement>;
export type JudgeResults = z.output<typeof judgeResults>;
