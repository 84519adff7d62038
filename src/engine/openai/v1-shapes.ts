import { z } from 'zod';
import { listedProbabilitiesShape } from '../http/forced-score.ts';

/** The answers of servers that speak OpenAI's /v1, as far as they are read. What one of them alone says may be missing. */

const count = z.int().nonnegative();
const ids = z.array(z.int());

export const v1ModelsShape = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      /** vLLM, SGLang: longest sequence. */
      max_model_len: count.nullish(),
      /** The model that was loaded under that name. */
      root: z.string().nullish(),
      /** llama-server. */
      meta: z.object({ n_vocab: count, n_ctx_train: count, n_params: count, size: count }).nullish(),
    }),
  ),
});

export type V1Model = z.output<typeof v1ModelsShape>['data'][number];

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
      /** vLLM: by token, which is written as `token_id:7` where that is asked for. */
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

/** llama-server's own answer. */
export const tokensAgainShape = z.object({
  tokens: ids,
  timings: z.object({ cache_n: count, prompt_n: count }),
});

export const versionShape = z.object({ version: z.string() });

/** vLLM's and SGLang's. */
export const countedTokensShape = z.object({ count, tokens: ids, max_model_len: count.nullish() });

export const promptShape = z.union([
  z.object({ prompt: z.string() }).transform(({ prompt }) => prompt),
  z.object({ text: z.string() }).transform(({ text }) => text),
]);

/** vLLM's, where it was started with --enable-tokenizer-info-endpoint. */
export const tokenizerInfoShape = z.object({
  chat_template: z.string().nullish(),
  eos_token: z.string().nullish().catch(null),
});
