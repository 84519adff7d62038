import { z } from 'zod';
import { object } from './zod-helpers.ts';

/** Prompt tokens of many calls; `reused`: their KV was cached already (null if not counted). */
const promptTokens = object({ evaluated: z.number(), reused: z.number().nullable() });

/** Prompt tokens of the same calls, as the answers of a server report them and as its counters do. */
export const promptTokenAudit = object({ answers: promptTokens, counters: promptTokens });

export type PromptTokens = z.output<typeof promptTokens>;
export type PromptTokenAudit = z.output<typeof promptTokenAudit>;

/** True if both counts agree; `reused` is compared only if both have it. */
export function auditAgrees({ answers, counters }: PromptTokenAudit): boolean {
  const reusedAgree = answers.reused === null || counters.reused === null || answers.reused === counters.reused;
  return answers.evaluated === counters.evaluated && reusedAgree;
}

export function sumAudits(a: PromptTokenAudit, b: PromptTokenAudit): PromptTokenAudit {
  const sum = (x: PromptTokens, y: PromptTokens): PromptTokens => ({
    evaluated: x.evaluated + y.evaluated,
    reused: x.reused === null || y.reused === null ? null : x.reused + y.reused,
  });
  return { answers: sum(a.answers, b.answers), counters: sum(a.counters, b.counters) };
}
