import { z } from 'zod';
import { engineAudit } from './engine-audit.ts';
import { paritySelfTest } from './parity-self-test.ts';
import { measured } from './suite-measurements.ts';
import { checkResult, judgeProbe } from './run-results.ts';
import { kvStores, machineKind, profile, tokenisation } from './run-description.ts';
import { list, numbers, object } from './zod-helpers.ts';

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
export type ArmIsolation = z.output<typeof armIsolation>;
export type IsolationProbe = z.output<typeof isolationProbe>;
export type RunProbes = z.output<typeof runProbes>;
