import { z } from 'zod';
import { list, object } from '../schemas.ts';
import { quantiles } from './estimate.ts';

/** One arm under a load that arrives at one rate; times from the planned arrival of a turn. */
export const servedLoad = object({
  arm: z.string(),
  /** Turns a second, as planned: the same for all arms. */
  offered: z.number(),
  turns: z.number(),
  /** Turns that failed; they are in no other number. */
  errors: z.number(),
  /** Turns a second from the first planned arrival to the last answer. */
  answered: z.number(),
  /** To the first token. Of a saturated load, whose times depend on how long it is played, the median alone. */
  ttftMs: quantiles.nullable(),
  /** The queue still grew at the end. */
  saturated: z.boolean(),
  /** Means a turn; null where the engine does not count them. */
  evaluatedTokens: z.number().nullable(),
  reusedTokens: z.number().nullable(),
  /** KV that was moved into sessions and out of them, mean a turn. */
  movedBytes: z.number(),
  /** Turns whose set of memories, or prefix, was found; null for an arm that keeps none. */
  hits: z.number().nullable(),
  /** Turns whose answer is that of `rag` to the same turn at the same rate; null of `rag` itself, and without it. */
  sameAsText: z.number().nullable(),
  /** Tokens that the engine evaluated, and those that the turns say; null where it does not count them. */
  meter: object({ engine: z.number(), turns: z.number() }).nullable(),
});

/** Arms under load: conversations of several turns that arrive at planned times. */
export const servingMeasurement = object({
  /** Turns that are answered at once. */
  sessions: z.number(),
  conversations: z.number(),
  /** Of the turns behind the first of a conversation, the planned share that ask an earlier question of it again. */
  recurrence: z.number(),
  /** Turns a second of each arm when the next is always there. */
  capacity: z.record(z.string(), z.number()).readonly(),
  loads: list(servedLoad),
});

export type ServedLoad = z.output<typeof servedLoad>;
export type ServingMeasurement = z.output<typeof servingMeasurement>;
