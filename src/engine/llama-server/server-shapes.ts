import { z } from 'zod';
import { listedProbabilitiesShape } from '../http/forced-score.ts';

/** The answers of a llama-server, as far as they are read; builds add fields, and older ones lack those that may be missing. */

const count = z.int().nonnegative();

export const slotsShape = z.array(
  z.object({
    id: count,
    n_ctx: count,
    is_processing: z.boolean(),
    speculative: z.boolean().optional(),
    /** Tokens that the slot holds. */
    n_prompt_tokens: count.optional(),
  }),
);

const timingsShape = z.object({
  /** Prompt tokens whose K/V was there. */
  cache_n: count.optional(),
  /** Prompt tokens that ran through the model. */
  prompt_n: count,
  prompt_ms: z.number(),
  predicted_n: count.optional(),
  predicted_ms: z.number().optional(),
});

export type Timings = z.output<typeof timingsShape>;

/** One event of a stream. */
export const chunkShape = z.object({
  content: z.string().optional(),
  tokens: z.array(z.int()).optional(),
  stop: z.boolean().optional(),
  stop_type: z.string().optional(),
  id_slot: z.int().optional(),
  model: z.string().optional(),
  tokens_predicted: count.optional(),
  tokens_evaluated: count.optional(),
  timings: timingsShape.optional(),
  prompt_progress: z.unknown().optional(),
});

export type Chunk = z.output<typeof chunkShape>;

/** A completion in one piece. */
export const completionShape = chunkShape.extend({
  id_slot: z.int(),
  tokens: z.array(z.int()),
  stop_type: z.string(),
  timings: timingsShape,
  completion_probabilities: z.array(listedProbabilitiesShape).optional(),
});

export type Completion = z.output<typeof completionShape>;

export const savedShape = z.object({ n_saved: count, n_written: count });

export const restoredShape = z.object({ n_restored: count });

export const erasedShape = z.object({ n_erased: count });
