import { z } from 'zod';
import { listedProbabilitiesShape } from '../http/forced-score.ts';

/** The responses of servers with OpenAI's /v1: the fields that are read, optional where only some programs send them. */

const count = z.int().nonnegative();
const ids = z.array(z.int());

const usageShape = z.object({
  prompt_tokens: count,
  completion_tokens: count.nullish(),
  prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish(),
});

const choiceShape = z.object({
  text: z.string().default(''),
  finish_reason: z.string().nullish(),
  /** vLLM: the stop text, or the id of the token, at which it ended. */
  stop_reason: z.union([z.string(), z.int()]).nullish(),
  /** The same of SGLang. */
  matched_stop: z.union([z.string(), z.int()]).nullish(),
  /** vLLM: of the new tokens. */
  token_ids: ids.nullish(),
  logprobs: z
    .object({
      /** llama-server: of the new tokens, with ids. */
      content: z.array(listedProbabilitiesShape).nullish().catch(null),
      /** vLLM: by token, written as `token_id:7` on request. */
      top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullish().catch(null),
    })
    .nullish(),
  /** vLLM: by id, at each place of the prompt but the first. */
  prompt_logprobs: z.array(z.record(z.string(), z.object({ logprob: z.number() })).nullable()).nullish(),
});

export type Choice = z.output<typeof choiceShape>;

/** A completion, and an event of one that is streamed. */
export const completionShape = z.object({
  choices: z.array(choiceShape),
  usage: usageShape.nullish(),
  /** llama-server. */
  timings: z.object({ cache_n: count.optional(), prompt_n: count, predicted_n: count.optional() }).nullish(),
});

export type Completion = z.output<typeof completionShape>;

/** `/completion` of llama-server. */
export const llamaCompletionShape = z.object({
  tokens: ids,
  timings: z.object({ cache_n: count, prompt_n: count }),
});

export const versionShape = z.object({ version: z.string() });

/** `/tokenize` of vLLM and SGLang. */
export const tokenizedShape = z.object({ count, tokens: ids, max_model_len: count.nullish() });

/** `/detokenize` of vLLM and SGLang. */
export const promptShape = z.union([
  z.object({ prompt: z.string() }).transform(({ prompt }) => prompt),
  z.object({ text: z.string() }).transform(({ text }) => text),
]);

/** `/tokenizer_info` of a vLLM with --enable-tokenizer-info-endpoint. */
export const tokenizerInfoShape = z.object({
  chat_template: z.string().nullish(),
  eos_token: z.string().nullish().catch(null),
});
