import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import { listedProbabilitiesShape } from '../http/forced-score.ts';
import type { PromptTokenLedger } from '../http/prompt-token-ledger.ts';
import type { RequestOptions } from '../http/server-connection.ts';
import type { TokenIds } from '../token-id.ts';
import type { CacheName } from './cache-isolation.ts';
import type { V1Server } from './describe-v1-server.ts';

const count = z.int().nonnegative();
const ids = z.array(z.int());

const choiceShape = z.object({
  text: z.string().default(''),
  finish_reason: z.string().nullish(),
  /** vLLM: stop text or token id that ended the answer. */
  stop_reason: z.union([z.string(), z.int()]).nullish(),
  /** SGLang's name for `stop_reason`. */
  matched_stop: z.union([z.string(), z.int()]).nullish(),
  /** vLLM: ids of the new tokens. */
  token_ids: ids.nullish(),
  logprobs: z
    .object({
      /** llama-server: probabilities of the new tokens, with ids. */
      content: z.array(listedProbabilitiesShape).nullish().catch(null),
      /** vLLM: log-probabilities by token, which is written as `token_id:7` on request. */
      top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullish().catch(null),
    })
    .nullish(),
  /** vLLM: [prompt position], by token id; null at the first. */
  prompt_logprobs: z.array(z.record(z.string(), z.object({ logprob: z.number() })).nullable()).nullish(),
});

export type Choice = z.output<typeof choiceShape>;

/** Response of `/v1/completions`, or an event of it if streamed; only the fields used here. */
export const completionShape = z.object({
  choices: z.array(choiceShape),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count.nullish(),
      /** vLLM: `external_cached_tokens` are those of `cached_tokens` that a KV connector brought. */
      prompt_tokens_details: z
        .object({ cached_tokens: count.nullish(), external_cached_tokens: count.nullish() })
        .nullish(),
    })
    .nullish(),
  timings: z.object({ cache_n: count.optional(), prompt_n: count, predicted_n: count.optional() }).nullish(),
});

export type Completion = z.output<typeof completionShape>;

/** Response of llama-server's `/completion`. */
const llamaCompletionShape = z.object({ tokens: ids, timings: z.object({ cache_n: count, prompt_n: count }) });

/** Overrides server settings: no penalties, no sampler except temperature. */
const SAMPLING = {
  temperature: 0,
  top_p: 1,
  top_k: -1,
  min_p: 0,
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  // llama-server: pings during a long prefill, so that it does not count as silence.
  sse_ping_interval: 5,
};

const UNKNOWN_REUSE =
  'does not tell how many tokens it reused: vLLM needs --enable-prompt-tokens-details, and a version that reports 0 too';

export interface Prompt {
  readonly ids: TokenIds;
  readonly name: CacheName;
  /** The name was not used yet. */
  readonly isFirst: boolean;
}

/** Prompt tokens of one answer, not counting the line of the cache name. */
export interface Counts {
  readonly evaluated: number;
  readonly reused: number;
}

/** Sends prompts to a server, as ids or, if it refuses ids, as text. Checks the token counts in its answers. */
export class PromptSender {
  readonly server: V1Server;
  readonly asIds: boolean;
  readonly #ledger: PromptTokenLedger | undefined;

  constructor(server: V1Server, asIds: boolean, ledger?: PromptTokenLedger) {
    this.server = server;
    this.asIds = asIds;
    this.#ledger = ledger;
  }

  /** Sends a prompt and waits for the whole answer. */
  async complete(prompt: Prompt, fields: object, options: CallOptions) {
    try {
      const body = await this.#body(prompt, fields, options);
      const answer = await this.server.connection.post('/v1/completions', body, completionShape, options);
      return { answer, counts: this.count(prompt, answer) };
    } catch (error) {
      this.markLost();
      throw error;
    }
  }

  /** Yields the events of an answer. The caller must call `count` or `markLost` afterwards. */
  async *stream(prompt: Prompt, fields: object, options: RequestOptions): AsyncGenerator<Completion, void> {
    const streamed = { stream: true, stream_options: { include_usage: true }, timings_per_token: true };
    const body = { ...(await this.#body(prompt, fields, options)), ...streamed };
    yield* this.server.connection.stream('/v1/completions', body, completionShape, options);
  }

  /** Generates again by llama-server's own route, which reports all ids; /v1 omits those that end within a character. */
  async tokensAgain(prompt: Prompt, fields: object): Promise<TokenIds> {
    const body = { ...(await this.#body(prompt, fields, {})), return_tokens: true };
    const { tokens, timings } = await this.server.connection.post('/completion', body, llamaCompletionShape);
    this.#ledger?.add({ evaluated: timings.prompt_n, reused: timings.cache_n });
    return tokens;
  }

  /**
   * Reads and records the prompt tokens that an answer reports.
   * @throws BenchError `protocol` if reused tokens are missing, or if the total does not match the prompt
   */
  count({ ids, name }: Prompt, answer: Pick<Completion, 'usage' | 'timings'>): Counts {
    const { errors } = this.server.connection;
    const { all, cached, external } = reportedTokens(answer);
    if (all === undefined) throw errors.protocol('does not report the number of prompt tokens');
    if (cached === undefined) throw errors.protocol(UNKNOWN_REUSE);
    const lineTokens = name.line.length;
    const length = ids.length + lineTokens;
    if (this.asIds && all !== length) throw errors.protocol(`reports ${all} tokens for a prompt of ${length}`);
    if (cached > all) throw errors.protocol(`reports ${cached} reused of ${all} tokens`);
    this.#ledger?.add({ evaluated: all - cached, reused: cached, ...(external === undefined ? {} : { external }) });
    // BOS, before the unique line, may be reused under any name and does not count.
    const isLineFound = lineTokens === 0 || cached > this.#opening(ids) + lineTokens;
    const reused = isLineFound ? cached - lineTokens : 0;
    return { evaluated: all - lineTokens - reused, reused };
  }

  markLost(): void {
    this.#ledger?.markLost();
  }

  async #body({ ids, name, isFirst }: Prompt, fields: object, options: CallOptions): Promise<object> {
    const opening = this.#opening(ids);
    const all = [...ids.slice(0, opening), ...name.line, ...ids.slice(opening)];
    // A server adds BOS to text itself.
    const prompt = this.asIds ? all : await this.server.routes.decode(all.slice(opening), options);
    const named = isFirst ? { ...name.fields, ...name.firstFields } : name.fields;
    return { ...SAMPLING, ...fields, ...named, model: this.server.model.id, prompt };
  }

  /** Number of tokens before the cache name's line: 1 if the prompt starts with BOS, else 0. */
  #opening([first]: TokenIds): number {
    const { bosToken } = this.server.tokenizer.special;
    return bosToken !== null && first === bosToken ? 1 : 0;
  }
}

/** All and cached prompt tokens, and the cached ones from outside the server; undefined if the server does not report them. */
function reportedTokens({ usage, timings }: Pick<Completion, 'usage' | 'timings'>) {
  const found = timings?.cache_n;
  const details = usage?.prompt_tokens_details;
  return {
    all: usage?.prompt_tokens ?? (found === undefined ? undefined : found + (timings?.prompt_n ?? 0)),
    cached: details?.cached_tokens ?? found,
    external: details?.external_cached_tokens ?? undefined,
  };
}
