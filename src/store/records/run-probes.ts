import { z } from 'zod';
import { measured } from './suite-measurements.ts';
import { checkResult, judgeProbe } from './results.ts';
import { kvStores, machineKind, profile, tokenisation } from './run-description.ts';
import { list, numbers, object } from './zod-helpers.ts';

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

/** Differences of one token sequence that is evaluated in different pieces, and again as it was. */
export const paritySelfTest = object({
  prompts: z.number(),
  /** Evaluations in two pieces, over all prompts. */
  cuts: z.number(),
  /** Every piecewise evaluation, and every repeated one, gave the bits of the whole one. */
  bitwiseEqual: z.boolean(),
  /** Largest difference in ln p, where p ≥ 1e-6: the noise floor of this model on this machine. */
  largestDifference: z.number(),
  /** Evaluations in one piece, again: a device that differs here computes otherwise from run to run. Missing in runs of before. */
  repeated: object({ ...numbers('evaluations', 'largestDifference'), bitwiseEqual: z.boolean() }).exactOptional(),
});

/** Self-test of a model's cells; `missing`: the reason why they are out of reach. */
export const cellsSelfTest = z.union([
  object({
    /**
     * One memory as a joined block against the same text: bits, and the largest difference in ln p; null where the header does not
     * end at an exact cut, so that text itself has other bits.
     */
    oneBlock: object({ bitwiseEqual: z.boolean(), largestDifference: z.number() }).nullable(),
    /** Keys of layer 0, and all keys and values, of a prefix that is evaluated in two pieces: parts of the largest number of a cell. */
    noise: object({ firstKeys: z.number(), deeper: z.number() }),
    /** All tokens of all blocks recomputed against the cells of the text, likewise. */
    recomputed: z.number(),
    /** Keys that the engine moved itself against plain rotation, likewise; null where it moves none. */
    shift: z.number().nullable(),
    /** In ln p: what keys do that are rotated by one position too many. */
    planted: z.number(),
  }),
  object({ missing: z.string() }),
]);

/** Sentences of the bench that were embedded together, and each once more by itself, as a question. */
const embedderProbe = object({
  sentences: z.number(),
  /** Those whose vector is that of another. */
  shared: list(z.string()),
  /** Those that are not nearest to themselves. */
  lost: list(z.string()),
  /** No number of any vector is negative; missing in older runs. */
  unsigned: z.boolean().exactOptional(),
});

/** Memories and questions about them, planted in the retriever of the run. */
const retrieverProbe = object({
  questions: z.number(),
  /** Those whose memories did not come back in the order of their nearness. */
  wrong: list(z.string()),
});

/** Turns held against the files of the data, read again; counts of what differs, by arm and kind. */
export const rereadCounts = object({
  ...numbers('turns', 'questions'),
  data: z.record(z.string(), z.number()).readonly(),
  scores: z.record(z.string(), z.number()).readonly(),
  ...numbers('withoutFile', 'withoutTexts'),
});

/** Answers of one arm about planted secrets: to the users who own them, and to those who do not. */
const armIsolation = object({
  arm: z.string(),
  /** It answers as the baseline does, so that owners who do not hear their own make the test blind. */
  mustHear: z.boolean(),
  owners: object(numbers('answers', 'right')),
  /** Answers that could hold another user's secret, one attempt each. */
  strangers: object(numbers('answers', 'leaks')),
  /** First answers to users whose memories are those of another, word for word: KV of that other must not serve them. */
  doubles: object(numbers('answers', 'reused')),
  /** For questions at the same moment; `lost`: owners who hear their own secret only when no one else asks. Missing in older runs. */
  atOnce: object({ ...numbers('answers', 'leaks'), lost: z.number().exactOptional() }).exactOptional(),
  /** For a system that was reopened on the same store, doubles included; missing in older runs. */
  reopened: object(numbers('answers', 'leaks', 'reused')).exactOptional(),
  /** `said[asker][owner]`: answers of an owner or of their stranger, two in all, that hold the owner's secret. */
  said: list(list(z.number())),
});

export const isolationProbe = object({ arms: list(armIsolation) });

/** Findings of a run beside its turns. */
export const runProbes = object({
  /** Before any arm runs. */
  parity: paritySelfTest,
  /** Missing in older runs, and where no prompt of the data has two memories. */
  cells: cellsSelfTest.exactOptional(),
  /** Calls of engine, store and memories outside of turns that were refused, by arm; missing in older runs. */
  refusedCalls: z.record(z.string(), z.number()).readonly().exactOptional(),
  /** The largest load average of the machine between users; missing in older runs. */
  load: object(numbers('cores', 'average')).exactOptional(),
  metrics: checkResult,
  /** Missing in older runs. */
  embedder: embedderProbe.exactOptional(),
  /** Missing in older runs. */
  retrieverProbe: retrieverProbe.exactOptional(),
  /** After the turns; missing until then and in older runs. */
  reread: rereadCounts.exactOptional(),
  tokenisation,
  /** For a merged run: the machines that took its turns. */
  machines: list(machineKind).exactOptional(),
  notes: list(z.string()),
  profile,
  /** Missing for an engine without counters of its own, and where an answer was lost. */
  audit: engineAudit.exactOptional(),
  /** After the turns. */
  kvStores,
  /** After the turns, as the retriever counts; missing until then. */
  retriever: z.record(z.string(), z.unknown()).readonly().exactOptional(),
  /** After the turns; null until then. */
  isolation: isolationProbe.nullable(),
  /** Measurements of the suite beside turns; null until then, and where it measures nothing. */
  measured: measured.nullable(),
  /** After all else; missing until then, and without a judge. */
  judge: judgeProbe.exactOptional(),
});

export type CellsSelfTest = z.output<typeof cellsSelfTest>;
export type RetrieverProbe = z.output<typeof retrieverProbe>;
export type RereadCounts = z.output<typeof rereadCounts>;
export type EmbedderProbe = z.output<typeof embedderProbe>;
export type ParitySelfTest = z.output<typeof paritySelfTest>;

/** The least difference in ln p that is called one: twice the largest that the self-test saw. */
export const parityBound = ({ largestDifference }: Pick<ParitySelfTest, 'largestDifference'>): number =>
  2 * largestDifference;

/** True where probabilities differ from those of the text: in a bit where the self-test found none that does, else by more than its noise. */
export function differsFromText(
  found: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
  tested: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
): boolean {
  return tested.bitwiseEqual ? !found.bitwiseEqual : found.largestDifference > parityBound(tested);
}
export type ArmIsolation = z.output<typeof armIsolation>;
export type IsolationProbe = z.output<typeof isolationProbe>;
export type RunProbes = z.output<typeof runProbes>;
