import { z } from 'zod';
import { promptTokenAudit } from './prompt-token-audit.ts';
import { measured } from './suite-measurements.ts';
import { checkResult, judgeProbe } from './run-results.ts';
import { kvStores, machineKind, profile, tokenisation } from './run-description.ts';
import { list, numbers, object } from './zod-helpers.ts';

/** How log-probabilities differ when a token sequence is evaluated in two pieces, or once more in one. */
export const paritySelfTest = object({
  prompts: z.number(),
  /** Places at which prompts were cut, over all prompts. */
  cuts: z.number(),
  /** All these evaluations gave the same bits as the first one in one piece. */
  bitwiseEqual: z.boolean(),
  /** Largest difference in ln p, where p ≥ 1e-6: the noise floor of this model on this machine. */
  largestDifference: z.number(),
  /** Repeated evaluations in one piece; a difference shows that the device is not deterministic. Missing in older runs. */
  repeated: object({ ...numbers('evaluations', 'largestDifference'), bitwiseEqual: z.boolean() }).exactOptional(),
});
export type ParitySelfTest = z.output<typeof paritySelfTest>;

/** Differences in ln p up to this bound count as noise: twice the largest of the self-test. */
export const parityBound = ({ largestDifference }: Pick<ParitySelfTest, 'largestDifference'>): number =>
  2 * largestDifference;

/** True if probabilities differ from those of the text: by any bit if the self-test was bitwise equal, else beyond noise. */
export function differsFromText(
  found: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
  tested: Pick<ParitySelfTest, 'bitwiseEqual' | 'largestDifference'>,
): boolean {
  return tested.bitwiseEqual ? !found.bitwiseEqual : found.largestDifference > parityBound(tested);
}

/** Self-test of KV cells; `missing`: the reason why they cannot be read. */
export const cellsSelfTest = z.union([
  object({
    /**
     * One memory as a joined block against the same text: equal bits, and the largest difference in ln p. Null if the header does
     * not end at an exact cut: then text evaluated in two pieces has other bits too.
     */
    oneBlock: object({ bitwiseEqual: z.boolean(), largestDifference: z.number() }).nullable(),
    /** Largest differences of a prefix evaluated in two pieces, relative to the largest number of a cell: keys of layer 0, and all. */
    noise: object({ firstKeys: z.number(), deeper: z.number() }),
    /** Largest relative difference between blocks with all tokens recomputed and the text. */
    recomputed: z.number(),
    /** Largest relative difference between keys shifted by the engine and rotated by our code; null if it cannot shift. */
    shift: z.number().nullable(),
    /** Difference in ln p that a planted fault makes: keys rotated by one position too many. */
    planted: z.number(),
  }),
  object({ missing: z.string() }),
]);

/** Test sentences, embedded together as memories and one by one as questions. */
const embedderProbe = object({
  sentences: z.number(),
  /** Sentences that have the vector of another sentence. */
  shared: list(z.string()),
  /** Sentences whose question vector is nearer to another sentence. */
  lost: list(z.string()),
  /** No component of any vector is negative; missing in older runs. */
  unsigned: z.boolean().exactOptional(),
});

/** Test memories in the retriever of the run, and questions about them. */
const retrieverProbe = object({
  questions: z.number(),
  /** Questions whose memories were not returned in order of similarity. */
  wrong: list(z.string()),
});

/** Turns compared with the data files, which are read again; counts of differences, by arm and kind. */
export const rereadCounts = object({
  ...numbers('turns', 'questions'),
  data: z.record(z.string(), z.number()).readonly(),
  scores: z.record(z.string(), z.number()).readonly(),
  ...numbers('withoutFile', 'withoutTexts'),
});

/** Answers of one arm about planted secrets: to the users who own them, and to those who do not. */
const armIsolation = object({
  arm: z.string(),
  /** It should answer like the baseline: if owners do not get their secrets, the test proves nothing. */
  mustHear: z.boolean(),
  owners: object(numbers('answers', 'right')),
  /** Answers that could hold another user's secret, one attempt each. */
  strangers: object(numbers('answers', 'leaks')),
  /** First answers to users with exactly the memories of another user, whose KV must not be `reused` for them. */
  doubles: object(numbers('answers', 'reused')),
  /** For concurrent questions; `lost`: owners who get their secret only when asking alone. Missing in older runs. */
  atOnce: object({ ...numbers('answers', 'leaks'), lost: z.number().exactOptional() }).exactOptional(),
  /** For a system that was reopened on the same store, doubles included; missing in older runs. */
  reopened: object(numbers('answers', 'leaks', 'reused')).exactOptional(),
  /** `said[asker][owner]`: how many of two answers, to the asker and to their stranger, contain the owner's secret. */
  said: list(list(z.number())),
});

export const isolationProbe = object({ arms: list(armIsolation) });

/** Findings of a run besides its turns. */
export const runProbes = object({
  /** Before any arm runs. */
  parity: paritySelfTest,
  /** Missing in older runs, and if no prompt has two memories. */
  cells: cellsSelfTest.exactOptional(),
  /** Number of refused calls of engine, store or memories outside turns, by arm; missing in older runs. */
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
  /** Missing if the engine has no counters, or an answer was lost. */
  audit: promptTokenAudit.exactOptional(),
  /** After the turns. */
  kvStores,
  /** After the turns, as the retriever counts; missing until then. */
  retriever: z.record(z.string(), z.unknown()).readonly().exactOptional(),
  /** After the turns; null until then. */
  isolation: isolationProbe.nullable(),
  /** Measurements of the suite besides turns; null until then, and if there are none. */
  measured: measured.nullable(),
  /** Made last; missing until then, and without a judge. */
  judge: judgeProbe.exactOptional(),
});

export type CellsSelfTest = z.output<typeof cellsSelfTest>;
export type RetrieverProbe = z.output<typeof retrieverProbe>;
export type RereadCounts = z.output<typeof rereadCounts>;
export type EmbedderProbe = z.output<typeof embedderProbe>;
export type ArmIsolation = z.output<typeof armIsolation>;
export type IsolationProbe = z.output<typeof isolationProbe>;
export type RunProbes = z.output<typeof runProbes>;
