import { z } from 'zod';
import { object } from './schemas.ts';

/** Prompt tokens of many calls. */
const promptTokens = object({
  /** Ran through the model. */
  evaluated: z.number(),
  /** Had their KV already; null where nobody counts them. */
  reused: z.number().nullable(),
});

/** The prompt tokens of one time by two books: what a server said in its answers, and what its own counters say. */
export const engineAudit = object({ answers: promptTokens, counters: promptTokens });

export type PromptTokens = z.output<typeof promptTokens>;
export type EngineAudit = z.output<typeof engineAudit>;

/** True where the two books say the same; what one of them does not count is not compared. */
export function booksAgree({ answers, counters }: EngineAudit): boolean {
  const reusedAgree = answers.reused === null || counters.reused === null || answers.reused === counters.reused;
  return answers.evaluated === counters.evaluated && reusedAgree;
}

/** The books of two times together. */
export function auditSum(a: EngineAudit, b: EngineAudit): EngineAudit {
  const sum = (x: PromptTokens, y: PromptTokens): PromptTokens => ({
    evaluated: x.evaluated + y.evaluated,
    reused: x.reused === null || y.reused === null ? null : x.reused + y.reused,
  });
  return { answers: sum(a.answers, b.answers), counters: sum(a.counters, b.counters) };
}
