import { z } from 'zod';
import { observed, type TurnObservation } from './turn-observation.ts';
import { prefillRecord, type PrefillRecord } from './prefill-record.ts';
import { promptInfo } from './prompt-info.ts';
import { list, numbers, object, texts } from './zod-helpers.ts';

/** A retrieval without its memories: what is stored of it with the turn. */
const retrievalRecord = object({
  strategy: z.string(),
  /** Making vectors, asking stores and indexes, and putting their answers in order. */
  timingsMs: object(numbers('embedding', 'search', 'ranking')),
  /** Tokens of its memories, and its budget of them, if the strategy has one. */
  tokensUsed: z.number().exactOptional(),
  tokenBudget: z.number().exactOptional(),
  flags: list(
    object({
      /**
       * `failed`: nothing could be retrieved, the turn went on without; `degraded`: a part was missing; `fallback`:
       * another way than the chosen one was taken; `cached`: an earlier answer was given again.
       */
      flag: z.enum(['failed', 'degraded', 'fallback', 'cached']),
      /** One line. */
      reason: z.string(),
    }),
  ),
  /** Steps of the strategy, for a reader: hints, tiers, paths taken; no texts of memories. */
  details: z.record(z.string(), z.unknown()).readonly(),
});

export type RetrievalRecord = z.output<typeof retrievalRecord>;

const retrievedMemory = object({
  ...texts('memoryId', 'content'),
  score: z.number(),
  /** From 1. */
  rank: z.number(),
  /** Stands in the sequence. */
  kept: z.boolean(),
  /** Answers the question, by the data set. */
  evidence: z.boolean(),
});

/** `hit`: all KV was in the store; `miss`: some was computed in this turn; `bypass`: the strategy keeps none. */
export const cacheStates = ['hit', 'miss', 'bypass'] as const;

const tokens = z.number().int().nonnegative();

/** Tokens that are recomputed, by the rule of the arm. */
const selection = object({
  /** The tokens that the rule chooses among, of blocks that did not see all that precedes them. */
  selectable: tokens,
  selected: tokens,
  /** Runs of neighbours among them; each takes one import of the cells before it and one export. */
  splices: tokens,
  /** For evaluating them and writing their cells. */
  ms: z.number(),
});

/** Tokens evaluated to select those that are recomputed: its cost is layers × tokens. */
const selector = object({
  /** `whole`: the model that answers, so that `evaluated` holds these tokens too; `first-layers`: its first layers alone. */
  model: z.enum(['whole', 'first-layers']),
  tokens,
  layers: tokens,
  ms: z.number(),
});

export type Selector = z.output<typeof selector>;

/** A turn's own claims, in tokens; the engine's meter is compared with them. */
export const turnAccount = object({
  cache: z.enum(cacheStates),
  /** Evaluated in this turn, in all. */
  evaluated: tokens,
  /** Evaluated to build KV that was not in the store. */
  built: tokens,
  /** Of the prefix, behind its last exact cut: evaluated with the suffix; missing where there are none. */
  remainder: tokens.exactOptional(),
  /** Of blocks, evaluated again at their final place; more than are selected where the engine takes no fewer at once. */
  recomputed: tokens,
  /** Missing where no rule selects tokens. */
  selection: selection.exactOptional(),
  /** Missing where nothing is evaluated to select them. */
  selector: selector.exactOptional(),
  /** Evaluated to decide whether to inject. */
  gate: tokens,
  /** Cells filled without evaluation. */
  resident: tokens,
  /** Positions that the prompt takes. */
  positions: tokens,
  /** Blocks share positions: the session's tokens are then not those of the prompt. */
  sharesPositions: z.boolean(),
  /**
   * Of the prompt, what the engine's own prefix cache should find: whole blocks of so many tokens; missing where the turn uses
   * no such cache.
   */
  found: object({ tokens, blockTokens: tokens }).exactOptional(),
  /** Work between the arm's last turn and this one, outside this turn's clock and meter; missing where nothing is done ahead. */
  ahead: object({ tokens, ms: z.number() }).exactOptional(),
});

export type TurnAccount = z.output<typeof turnAccount>;

export function selectedByModel({ selector }: Pick<TurnAccount, 'selector'>): number {
  return selector?.model === 'whole' ? selector.tokens : 0;
}

export function selectedByFirstLayers({ selector }: Pick<TurnAccount, 'selector'>): number {
  return selector?.model === 'first-layers' ? selector.tokens : 0;
}

/** Milliseconds. `firstToken` (TTFT) runs from the call of `chat` to the first token; the rest are parts of `total`. */
export const timings = object({
  ...numbers('retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode', 'total'),
});

/** Times of the phases of a turn, in ms, as its system measured them. */
export type Timings = z.output<typeof timings>;

/** The four columns of every table, and positions where they differ from cells. */
export const tokenCounts = object({
  /** Given as text. */
  prompt: z.number(),
  /** Cells filled by injected KV. */
  kvResident: z.number(),
  /** Run through the model in this turn, by the engine's meter. */
  evaluated: z.number(),
  /** Run through the model's first layers alone, by the meter of the engine that has these; missing where none were. */
  firstLayers: z.number().exactOptional(),
  generated: z.number(),
  /** Positions that the prompt takes; equal to cells unless blocks share positions. */
  positions: z.number(),
});

/** Tokens of a turn: given as text, resident as KV, evaluated, generated. */
export type TokenCounts = z.output<typeof tokenCounts>;

/** Classes of wrong answers, in the order in which they are tried. */
export const wrongClasses = ['wrong-abstention', 'stale', 'confused', 'near-copy', 'fabricated', 'off-topic'] as const;

/** Stages of the evidence funnel, in order. */
export const funnelStages = ['stored', 'retrieved', 'kept', 'sequence', 'answered'] as const;

const score = z.number().nullable();

/** The scores of one turn, each 0 to 1 but those of the calling program; null where a metric does not apply to the item. */
export const scores = object({
  exactMatch: score,
  /** Null in runs made with version 1 of the metrics, whose `exactMatch` it was. */
  squadExactMatch: score.default(null),
  /** Missing in turns of older runs. */
  contains: score.default(null),
  tokenF1: score,
  /** For data that are judged by it alone; also defined for absent items. */
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
  /** Stages that the item passed, up to the first failure; empty for an absent item, and where the evidence is unknown. */
  passedStages: list(z.enum(funnelStages)),
  /** Rank, from 1, of the evidence that was retrieved last. */
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

/** The question, copied from the data set, so that analysis needs no data file. */
export const itemRecord = object({
  query: z.string(),
  /** Null where only abstaining is right. */
  gold: z.string().nullable(),
  /** Other right answers. */
  acceptedAnswers: list(z.string()).default([]),
  /** Id of the relation that is asked for, such as `dentist`; null where the data set does not say. */
  relation: z.string().nullable().default(null),
  /** Text that begins the answer, so that the gold comes next; null where the data set gives none. */
  answerPrefix: z.string().nullable().default(null),
  category: z.string(),
  /** Empty where the data set does not say. */
  phrasing: z.string(),
  userKind: z.string(),
  /** In which it is scored. */
  language: z.string(),
  /** Memories that the user had when asked, and how many of them are the evidence. */
  memories: z.number(),
  evidence: z.number(),
  /** Place of the first memory of the evidence among the user's, by creation, from 0 to 1; null without evidence. */
  evidencePlace: z.number().nullable(),
  /** The value that the suite varies; null where it varies none. */
  condition: z.number().nullable(),
});

/** Facts of a prompt, kept beside it so that tables need not read every token again. */
export const promptFacts = object({
  tokens: z.number(),
  /** Up to the last memory line; 0 without memories. */
  prefixTokens: z.number(),
  /** The memories that stand in it, in their order. */
  memoryIds: list(z.string()),
  forced: z.boolean(),
  /** Tokens of the memory lines, their header and footer. */
  memoryTokens: z.number(),
  /** Arms that answer differently have different conversations. */
  historySha256: z.string(),
  ...numbers('retrievedMemories', 'keptMemories', 'droppedMemories', 'droppedHistory'),
});

export const answerRecord = object({
  /** Generated, as metrics score it: without the prefix, and without a thought. */
  text: z.string(),
  tokenIds: list(z.number()),
  stop: z.enum(['end', 'stop-text', 'sentence', 'length', 'aborted']),
  /** The text that the model was given to begin its answer with, and the white space behind it; absent without one. */
  prefix: z.string().exactOptional(),
  /** Of `tokenIds`, those of a thought that was cut off; absent without one. */
  thoughtTokens: z.number().int().exactOptional(),
});

/** All that was retrieved, ranked, and how; `retrieval` is null for an arm that asked no retriever. */
const givenRecord = object({
  retrieved: list(retrievedMemory),
  retrieval: retrievalRecord.nullable(),
  /** The retriever's own summary, Markdown; absent where it makes none. */
  summary: z.string().exactOptional(),
});

/** A turn that gave an answer, with all that the model was given for it. */
export const answeredTurn = object({
  state: z.literal('answered'),
  ...turnKey.shape,
  item: itemRecord,
  given: givenRecord,
  prompt: promptInfo,
  facts: promptFacts,
  /** Null where nothing was injected. */
  prefill: prefillRecord.nullable(),
  account: turnAccount,
  answer: answerRecord,
  timings,
  tokens: tokenCounts,
  /** From the runner, after the turn. */
  observed,
  scores,
});

export const failedTurn = object({
  state: z.literal('failed'),
  ...turnKey.shape,
  /** `code` is that of a BenchError. */
  error: object({ code: z.string().nullable(), message: z.string() }),
});

/** One turn of one arm: the only declaration; types, database columns, viewer and results derive from it. */
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

/** The part of a turn that results are computed from: without the model's input tokens and the texts that no table shows. */
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

/** True if a turn evaluated what it says, to the token or within a block of the engine's own prefix cache. */
export function evaluatesAsClaimed({ tokens, account }: Pick<AnsweredResult, 'tokens' | 'account'>): boolean {
  const block = account.found?.blockTokens ?? 1;
  return Math.abs(tokens.evaluated - account.evaluated) < block;
}

const section = z.looseObject({});

/** What statistics rely on in the stored parts of a turn, by its state: all sections, and scores that are numbers. */
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
