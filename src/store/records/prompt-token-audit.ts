import { z } from 'zod';
import { object } from './zod-helpers.ts';

/**
 * Prompt tokens of many calls. `reused`: their KV was cached already (null if not counted). `external`: those of `reused` that came
 * from outside the server, such as a cache that several servers share; missing if the server does not distinguish them.
 */
const promptTokens = object({
  evaluated: z.number(),
  reused: z.number().nullable(),
  external: z.number().exactOptional(),
});

/** Prompt tokens of the same calls, as the answers of a server report them and as its counters do. */
export const promptTokenAudit = object({ answers: promptTokens, counters: promptTokens });

export type PromptTokens = z.output<typeof promptTokens>;
export type PromptTokenAudit = z.output<typeof promptTokenAudit>;

/** True if both counts agree; `reused` and `external` are compared only if both have them. */
export function auditAgrees({ answers, counters }: PromptTokenAudit): boolean {
  const agree = (a: number | null | undefined, b: number | null | undefined): boolean =>
    a === null || b === null || a === undefined || b === undefined || a === b;
  return (
    answers.evaluated === counters.evaluated &&
    agree(answers.reused, counters.reused) &&
    agree(answers.external, counters.external)
  );
}

/** Adds counts; a count that one of them lacks is missing in the sum. @param sign −1 subtracts the second */
export function sumPromptTokens(a: PromptTokens, b: PromptTokens, sign: 1 | -1 = 1): PromptTokens {
  return {
    evaluated: a.evaluated + sign * b.evaluated,
    reused: a.reused === null || b.reused === null ? null : a.reused + sign * b.reused,
    ...(a.external === undefined || b.external === undefined ? {} : { external: a.external + sign * b.external }),
  };
}

export function sumAudits(a: PromptTokenAudit, b: PromptTokenAudit): PromptTokenAudit {
  return { answers: sumPromptTokens(a.answers, b.answers), counters: sumPromptTokens(a.counters, b.counters) };
}
