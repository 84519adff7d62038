import { z } from 'zod';

/** The answers of a llama-server, as far as they are read; builds add fields, and older ones lack those that may be missing. */

const count = z.int().nonnegative();

export const propsShape = z.object({
  total_slots: count,
  model_path: z.string(),
  model_alias: z.string().optional(),
  build_info: z.string(),
  chat_template: z.string().optional(),
  bos_token: z.string().optional(),
  eos_token: z.string().optional(),
  default_generation_settings: z.object({ n_ctx: count }),
});

export type ServerProps = z.output<typeof propsShape>;

export const modelsShape = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      meta: z
        .looseObject({
          n_vocab: count,
          n_ctx_train: count,
          n_params: count,
          size: count,
          architecture: z.string().optional(),
        })
        .nullish(),
    }),
  ),
});

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

/** Of every token of the vocabulary: nothing is kept that is not read. */
const tokenProbabilityShape = z.object({ id: count, logprob: z.number() });

const probabilityShape = tokenProbabilityShape.extend({ top_logprobs: z.array(tokenProbabilityShape) });

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
  completion_probabilities: z.array(probabilityShape).optional(),
});

export type Completion = z.output<typeof completionShape>;

export const savedShape = z.object({ n_saved: count, n_written: count });

export const restoredShape = z.object({ n_restored: count });

export const erasedShape = z.object({ n_erased: count });
