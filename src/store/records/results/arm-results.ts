import { z } from 'zod';
import { list, object } from '../schemas.ts';
import { armTraits } from '../arm-traits.ts';
import { wrongClasses } from '../scores.ts';
import { timings } from '../timings.ts';
import { tokenCounts } from '../token-counts.ts';
import { estimate, lowerBound, upperBound } from './estimate.ts';

const metric = estimate.nullable();
/** Missing in documents of older runs. */
const added = metric.default(null);

/**
 * Means of the metrics that the bench knows, each over the items of which it is defined: shares from 0 to 1, log-probabilities
 * in nats, and the agreement with the reference. Metrics of the calling program follow by their names.
 */
export const qualityEstimates = z
  .object({
    exactMatch: metric,
    contains: added,
    tokenF1: metric,
    locomoF1: added,
    memoryRecall: metric,
    abstention: metric,
    taskSuccess: metric,
    rougeL: metric,
    bleu: metric,
    goldLogProb: added,
    goldKl: added,
    goldLogProbability: metric,
    freeLogProbability: metric,
    klDivergence: metric,
    topOneAgreement: metric,
  })
  .catchall(metric);

/** Means a turn. */
export const tokenMeans = tokenCounts;

/** Means a turn, ms: the parts of the time to the first token, that time, and decoding. */
export const phaseMeans = timings.unwrap().omit({ total: true }).readonly();

/** The cost of a turn over a set of turns. */
export const cost = object({
  turns: z.number(),
  tokens: tokenMeans,
  phasesMs: phaseMeans,
  ttftMs: estimate,
  totalMs: estimate,
});

/** Quality over the items that have one value of a field in common. */
export const breakdownPart = object({
  field: z.enum(['userKind', 'category', 'phrasing', 'language']),
  value: z.string(),
  /** Turns that gave an answer. */
  n: z.number(),
  /** Null where a metric is defined of none of the items: `exactMatch` of absent ones, `abstention` of answerable ones. */
  metrics: z
    .object({
      exactMatch: metric,
      taskSuccess: metric,
      /** By language alone, as the two below. */
      tokenF1: metric.exactOptional(),
      memoryRecall: metric.exactOptional(),
      abstention: metric.exactOptional(),
    })
    // The primary metric, where it is another, and log-probabilities by category.
    .catchall(metric)
    .readonly(),
  /** Of categories: task success less that of the baseline, paired by item; missing of the baseline, and in older runs. */
  difference: object({
    against: z.string(),
    delta: z.number(),
    low: lowerBound,
    high: upperBound,
    n: z.number(),
    users: z.number(),
    wins: z.number(),
    losses: z.number(),
  }).exactOptional(),
});

const count = z.number();

/** The part of retrieval for a user: it gave every memory that there was, in all turns, or selected in some. */
const retrievalKind = z.enum(['everything', 'selection']);

/** The turns of the users of one kind. */
const retrievalPart = object({
  kind: retrievalKind,
  users: count,
  /** Those of them with a cache hit of the primary arm. */
  usersWithHits: count,
  turns: count,
  hits: count,
  costHit: cost.nullable(),
  costAll: cost.nullable(),
});

/** One arm over all its turns. */
export const armResults = object({
  arm: z.string(),
  /** As they are stored with the run. */
  traits: armTraits,
  /** Turns that gave an answer. */
  n: count,
  errors: count,
  /** Quality over all items; `ttftMs` and `totalMs` over the cache hits. Null where nothing is defined or known. */
  metrics: qualityEstimates.extend({ ttftMs: metric, totalMs: metric }).readonly(),
  breakdown: list(breakdownPart),
  /**
   * Against the text of the baseline: the share of items with the same answer to the letter, and of `n` items those that
   * are right there and wrong here (`lost`), and the other way (`won`). Missing of the baseline, and in older runs.
   */
  fidelity: object({ against: z.string(), sameAnswer: estimate, n: count, lost: count, won: count }).exactOptional(),
  /** Means a turn over the cache hits; null without one. */
  tokens: tokenMeans.nullable(),
  /** Counts. An arm that injects nothing has the hits and misses of the primary arm on the same items. */
  turns: object({ hit: count, miss: count, bypass: count }),
  costHit: cost.nullable(),
  costMiss: cost.nullable(),
  costAll: cost.nullable(),
  /** The same by what retrieval did for the user; missing without a primary arm, and in older runs. */
  byRetrieval: list(retrievalPart).exactOptional(),
  /**
   * Tokens evaluated and time taken before turns, when memories were added: means a turn over all turns, in no other
   * number. Missing for arms that do nothing ahead.
   */
  ahead: object({ tokens: z.number(), ms: z.number() }).exactOptional(),
  /** Cache hits ÷ turns that injected memories; null for arms that keep no KV. */
  hitRate: z.number().nullable(),
  /** Wrong answers by class; null where quality is unknown. */
  wrong: z.record(z.enum(wrongClasses), count).readonly().nullable(),
  /** Answerable items that reach each stage of the evidence funnel; `answered` is null where quality is unknown. */
  funnel: object({
    stored: count,
    retrieved: count,
    kept: count,
    sequence: count,
    answered: count.nullable(),
  }),
});

export type QualityEstimates = Readonly<z.output<typeof qualityEstimates>>;
export type TokenMeans = z.output<typeof tokenMeans>;
export type PhaseMeans = z.output<typeof phaseMeans>;
export type Cost = z.output<typeof cost>;
export type RetrievalKind = z.output<typeof retrievalKind>;
export type BreakdownPart = z.output<typeof breakdownPart>;
/** Means of one arm over its turns, with intervals over users. */
export type ArmResults = z.output<typeof armResults>;
