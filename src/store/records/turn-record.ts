import { z } from 'zod';
import { turnObservation, type TurnObservation } from './turn-observation.ts';
import { prefillRecord, type PrefillRecord } from './prefill-record.ts';
import { promptInfo } from './prompt-info.ts';
import { list, numbers, object, texts } from './zod-helpers.ts';

/** A retrieval as the turn stores it, without its memories. */
const retrievalRecord = object({
  /** The `name` of the strategy. */
  strategy: z.string(),
  /** Milliseconds for embedding, for searching stores and indexes, and for ranking their results. */
  timingsMs: object(numbers('embedding', 'search', 'ranking')),
  /** Tokens of the memories, and the token budget, for a strategy with a budget. */
  tokensUsed: z.number().exactOptional(),
  tokenBudget: z.number().exactOptional(),
  flags: list(
    object({
      /**
       * `failed`: nothing could be retrieved, the turn went on without memories; `degraded`: a part was missing; `fallback`:
       * a method other than the configured one was used; `cached`: an earlier result was reused.
       */
      flag: z.enum(['failed', 'degraded', 'fallback', 'cached']),
      /** One line. */
      reason: z.string(),
    }),
  ),
  /** Trace of the strategy for readers: hints, tiers, paths; no texts of memories. */
  details: z.record(z.string(), z.unknown()).readonly(),
});
export type RetrievalRecord = z.output<typeof retrievalRecord>;

const retrievedMemory = object({
  ...texts('memoryId', 'content'),
  score: z.number(),
  /** From 1. */
  rank: z.number(),
  /** The prompt contains it. */
  kept: z.boolean(),
  /** The data set names it as evidence of the answer. */
  evidence: z.boolean(),
});

/** `hit`: all KV was in the store; `miss`: some was computed in this turn; `bypass`: the strategy stores none. */
export const cacheStates = ['hit', 'miss', 'bypass'] as const;

const tokens = z.number().int().nonnegative();

/** Tokens that the rule of the arm selects for recomputation. */
const selection = object({
  /** Tokens that the rule can select: those of all blocks but the first. */
  selectable: tokens,
  selected: tokens,
  /** Runs of adjacent selected tokens; each takes one import of the cells before it and one export. */
  splices: tokens,
  /** Time to evaluate the selected tokens and to write their cells. */
  ms: z.number(),
});

/** Tokens evaluated in order to select tokens for recomputation or eviction; the cost is layers × tokens. */
const selector = object({
  /** `whole`: the answering model, so that `evaluated` includes these tokens; `first-layers`: only its first layers. */
  model: z.enum(['whole', 'first-layers']),
  tokens,
  layers: tokens,
  ms: z.number(),
});
export type Selector = z.output<typeof selector>;

/** What the system says about a turn, in tokens; checks compare it with the engine's count. */
export const turnAccount = object({
  cache: z.enum(cacheStates),
  /** Evaluated in this turn, in all. */
  evaluated: tokens,
  /** Evaluated to build KV that was not in the store. */
  built: tokens,
  /** Prefix tokens after the last exact cut, which are evaluated with the suffix; missing if there are none. */
  remainder: tokens.exactOptional(),
  /** Block tokens recomputed at their final place; more than selected if the engine has a larger minimum batch. */
  recomputed: tokens,
  /** Missing if no rule selects tokens. */
  selection: selection.exactOptional(),
  /** Missing if the selection needs no evaluation. */
  selector: selector.exactOptional(),
  /** Memory tokens that eviction had dropped and that came back with their whole blocks; missing if the arm repairs none. */
  repaired: tokens.exactOptional(),
  /** Evaluated to decide whether to inject. */
  gate: tokens,
  /** Cells filled without evaluation. */
  resident: tokens,
  /** Positions that the prompt takes. */
  positions: tokens,
  /** Blocks share positions, so that the session's tokens differ from those of the prompt. */
  sharesPositions: z.boolean(),
  /** Prompt tokens that the engine's prefix cache should hold, and its block size. Missing if the turn uses no such cache. */
  found: object({ tokens, blockTokens: tokens }).exactOptional(),
  /** Work to compute KV before this turn, since the arm's last one; in no other count or time. Missing if there is none. */
  ahead: object({ tokens, ms: z.number() }).exactOptional(),
});
export type TurnAccount = z.output<typeof turnAccount>;

/** Tokens that this part of the answering model evaluated to select tokens. */
export function selectorTokens({ selector }: Pick<TurnAccount, 'selector'>, model: Selector['model']): number {
  return selector?.model === model ? selector.tokens : 0;
}

/** Milliseconds. `firstToken` (TTFT) runs from the call of `chat` to the first token; the rest are parts of `total`. */
export const timings = object({
  ...numbers('retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode', 'total'),
});

/** Times of the phases of a turn, in ms, as its system measured them. */
export type Timings = z.output<typeof timings>;

/** Tables show `prompt`, `kvResident`, `evaluated` and `generated`. */
export const tokenCounts = object({
  /** Given as text. */
  prompt: z.number(),
  /** Cells filled by injected KV. */
  kvResident: z.number(),
  /** Evaluated by the model in this turn, as the engine counts. */
  evaluated: z.number(),
  /** Evaluated by only the first layers of the model, as their engine counts; missing if none were. */
  firstLayers: z.number().exactOptional(),
  generated: z.number(),
  /** Positions that the prompt takes; equal to cells unless blocks share positions. */
  positions: z.number(),
});

/** Tokens of a turn: given as text, resident as KV, evaluated, generated. */
export type TokenCounts = z.output<typeof tokenCounts>;

/** Classes of wrong answers, in the order in which they are tried. */
export const wrongClasses = [
  'wrong-abstention',
  'superseded',
  'confused',
  'near-copy',
  'fabricated',
  'off-topic',
] as const;

/** Names of classes in older reports, and their names now. */
export const formerWrongClasses: Readonly<Record<string, WrongClass>> = { stale: 'superseded' };

/** Stages of the evidence funnel, in order. */
export const funnelStages = ['stored', 'retrieved', 'kept', 'sequence', 'answered'] as const;

const score = z.number().nullable();

/** Scores of one turn, 0 to 1 except those of `own`; null if a metric does not apply to the item. */
export const scores = object({
  exactMatch: score,
  /** Null in runs with version 1 of the metrics, which call it `exactMatch`. */
  squadExactMatch: score.default(null),
  /** Missing in turns of older runs. */
  contains: score.default(null),
  tokenF1: score,
  /** Only for data sets that are judged by it; also defined for items that no memory answers. */
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
  /** The first stage of the evidence funnel that failed; null if none did, or the item has no funnel. */
  failedStage: z.enum(funnelStages).nullable(),
  /** Stages that the item passed, up to the first failure; empty for an absent item, and where the evidence is unknown. */
  passedStages: list(z.enum(funnelStages)),
  /** Rank, from 1, of the lowest-ranked evidence memory; null unless all evidence was retrieved. */
  evidenceRank: z.number().nullable(),
});

export type WrongClass = (typeof wrongClasses)[number];
export type FunnelStage = (typeof funnelStages)[number];
export type Scores = z.output<typeof scores>;

/** Names one turn of a run. */
export const turnKey = z.object({
  ...texts('itemId', 'userId', 'arm'),
  repeat: z.number().int(),
  turn: z.number().int(),
  /** Place in the order in which the arms of the item ran, from 0. */
  position: z.number().int(),
});

/** A question, copied from the data set, so that analysis needs no data file. */
export const itemRecord = object({
  query: z.string(),
  /** Null where only abstaining is right. */
  gold: z.string().nullable(),
  /** Other right answers. */
  acceptedAnswers: list(z.string()).default([]),
  /** Points that a full answer makes; missing for an answer that is right or wrong as a whole. */
  nuggets: list(z.string()).exactOptional(),
  /** Id of the relation that is asked for, such as `dentist`; null where the data set does not say. */
  relation: z.string().nullable().default(null),
  /** Text that begins the answer, so that the gold comes next; null where the data set gives none. */
  answerPrefix: z.string().nullable().default(null),
  category: z.string(),
  /** Empty where the data set does not say. */
  phrasing: z.string(),
  userKind: z.string(),
  /** Language in which the answer is scored. */
  language: z.string(),
  /** Memories that the user had when asked, and how many of them are the evidence. */
  memories: z.number(),
  evidence: z.number(),
  /** Superseded values that the data name; missing in older runs. */
  superseded: z.number().exactOptional(),
  /** Place of the first evidence memory among the user's memories by time of creation, 0 to 1; null without evidence. */
  evidencePlace: z.number().nullable(),
  /** The value that the suite varies; null where it varies none. */
  condition: z.number().nullable(),
});

/** Facts about a prompt, stored apart from it so that tables need not read its tokens. */
export const promptFacts = object({
  tokens: z.number(),
  /** Up to the last memory line; 0 without memories. */
  prefixTokens: z.number(),
  /** The memories in the prompt, in order. */
  memoryIds: list(z.string()),
  forced: z.boolean(),
  /** Tokens of the memory lines, their header and footer. */
  memoryTokens: z.number(),
  /** Hash of the history, which contains the arm's earlier answers. */
  historySha256: z.string(),
  ...numbers('retrievedMemories', 'keptMemories', 'droppedMemories', 'droppedHistory'),
});

export const answerRecord = object({
  /** The generated text that metrics score, without prefix and thought. */
  text: z.string(),
  tokenIds: list(z.number()),
  stop: z.enum(['end', 'stop-text', 'sentence', 'length', 'aborted']),
  /** Given beginning of the answer, with the white space after it; missing without one. */
  prefix: z.string().exactOptional(),
  /** How many of `tokenIds` belong to a thought, which `text` leaves out; missing without a thought. */
  thoughtTokens: z.number().int().exactOptional(),
});

/** All retrieved memories, ranked; `retrieval` is null for an arm without a retriever. */
const givenRecord = object({
  retrieved: list(retrievedMemory),
  retrieval: retrievalRecord.nullable(),
  /** The retriever's summary, Markdown; missing if it writes none. */
  summary: z.string().exactOptional(),
});

/** A turn with an answer, and everything that the model was given for it. */
export const answeredTurn = object({
  state: z.literal('answered'),
  ...turnKey.shape,
  item: itemRecord,
  given: givenRecord,
  prompt: promptInfo,
  facts: promptFacts,
  /** Null if nothing was injected. */
  prefill: prefillRecord.nullable(),
  account: turnAccount,
  answer: answerRecord,
  timings,
  tokens: tokenCounts,
  /** Measured by the runner after the turn. */
  observed: turnObservation,
  scores,
});

export const failedTurn = object({
  state: z.literal('failed'),
  ...turnKey.shape,
  /** `code` is that of a BenchError. */
  error: object({ code: z.string().nullable(), message: z.string() }),
});

/** One turn of one arm. Types, database columns, viewer and results derive from this declaration. */
export const turnRecord = z.discriminatedUnion('state', [answeredTurn, failedTurn]);

export type TurnKey = Readonly<z.output<typeof turnKey>>;
export type ItemRecord = z.output<typeof itemRecord>;
type GivenRecord = z.output<typeof givenRecord>;
export type PromptFacts = z.output<typeof promptFacts>;
export type AnswerRecord = z.output<typeof answerRecord>;
/** The record of a turn that has an answer. */
export type AnsweredTurn = z.output<typeof answeredTurn>;
/** The record of a turn that ended in an error. */
export type FailedTurn = z.output<typeof failedTurn>;
/** The record of a turn, answered or failed. */
export type TurnRecord = z.output<typeof turnRecord>;

/** The part of a turn that results are computed from, without prompt tokens and texts that no table shows. */
export type TurnResult = AnsweredResult | FailedTurn;

export interface AnsweredResult extends Omit<AnsweredTurn, 'given' | 'prompt' | 'prefill' | 'answer' | 'observed'> {
  readonly given: Pick<GivenRecord, 'retrieval'>;
  readonly prefill: Pick<PrefillRecord, 'sizeBytes' | 'memoryLines'> | null;
  readonly answer: Pick<AnswerRecord, 'text'>;
  /** `goldTokens` has only its length. */
  readonly observed: Omit<TurnObservation, 'goldTokens' | 'nextTokens'> & {
    readonly goldTokens: Pick<TurnObservation['goldTokens'], 'length'>;
  };
}

/** True if the engine evaluated as many tokens as the turn claims, or differs by less than a block of its prefix cache. */
export function evaluatesAsClaimed({ tokens, account }: Pick<AnsweredResult, 'tokens' | 'account'>): boolean {
  const block = account.found?.blockTokens ?? 1;
  return Math.abs(tokens.evaluated - account.evaluated) < block;
}

const section = z.looseObject({});

/** What statistics need of a stored turn, by its state: all sections, and numbers for scores. */
export const measuredParts = {
  answered: z.looseObject({
    ...{ item: section, facts: section, account: section, given: section, observed: section },
    answer: z.looseObject({ text: z.string() }),
    timings: z.record(z.string(), z.number()),
    tokens: z.record(z.string(), z.number()),
    scores: scores.unwrap().partial().loose(),
  }),
  failed: z.looseObject({ error: section }),
};
