import { z } from 'zod';
import { object } from './zod-helpers.ts';

/** Prompt tokens of many calls; `reused` had their KV already (null where nothing counts them). */
const promptTokens = object({ evaluated: z.number(), reused: z.number().nullable() });

/** The prompt tokens of the same calls, by the answers of a server and by its own counters. */
export const engineAudit = object({ answers: promptTokens, counters: promptTokens });

export type PromptTokens = z.output<typeof promptTokens>;
export type EngineAudit = z.output<typeof engineAudit>;

/** True where both counts agree; what one of them lacks is not compared. */
export function booksAgree({ answers, counters }: EngineAudit): boolean {
  const reusedAgree = answers.reused === null || counters.reused === null || answers.reused === counters.reused;
  return answers.evaluated === counters.evaluated && reusedAgree;
}

export function auditSum(a: EngineAudit, b: EngineAudit): EngineAudit {
  const sum = (x: PromptTokens, y: PromptTokens): PromptTokens => ({
    evaluated: x.evaluated + y.evaluated,
    reused: x.reused === null || y.reused === null ? null : x.reused + y.reused,
  });
  return { answers: sum(a.answers, b.answers), counters: sum(a.counters, b.counters) };
}
