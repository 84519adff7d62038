import { z } from 'zod';
import type { CallOptions } from '../engine-session.ts';
import { listedProbabilitiesShape } from '../http/forced-score.ts';
import type { PromptLedger } from '../http/prompt-ledger.ts';
import type { RequestOptions } from '../http/server-connection.ts';
import type { TokenIds } from '../token-id.ts';
import type { CacheName } from './cache-isolation.ts';
import type { V1Server } from './describe-v1-server.ts';

const count = z.int().nonnegative();
const ids = z.array(z.int());

const choiceShape = z.object({
  text: z.string().default(''),
  finish_reason: z.string().nullish(),
  /** vLLM: the stop text, or the id of the token, at which it ended. */
  stop_reason: z.union([z.string(), z.int()]).nullish(),
  /** SGLang: the same. */
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

/** A completion of a server with OpenAI's /v1, and an event of one that is streamed: the fields that are read. */
export const completionShape = z.object({
  choices: z.array(choiceShape),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count.nullish(),
      prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish(),
    })
    .nullish(),
  timings: z.object({ cache_n: count.optional(), prompt_n: count, predicted_n: count.optional() }).nullish(),
});

export type Completion = z.output<typeof completionShape>;

/** `/completion` of llama-server. */
const llamaCompletionShape = z.object({ tokens: ids, timings: z.object({ cache_n: count, prompt_n: count }) });

/** Overrides a server's own settings: greedy or the whole softmax, no penalties. */
const PLAIN = {
  temperature: 0,
  top_p: 1,
  top_k: -1,
  min_p: 0,
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  // llama-server: a long prompt must not look like silence.
  sse_ping_interval: 5,
};

const UNKNOWN_REUSE =
  'does not say how many tokens it reused: vLLM needs --enable-prompt-tokens-details, and a version that says 0 where it is 0';

export interface Sent {
  readonly ids: TokenIds;
  readonly name: CacheName;
  /** Nothing was sent under the name, and no other session has it. */
  readonly isFirst: boolean;
}

/** Prompt tokens of one answer, without the cache name's line. */
export interface Counted {
  readonly evaluated: number;
  readonly reused: number;
}

/** Sends prompts to a server, as ids or, where it refuses those, as text, and checks the counts of its answers. */
export class PromptSender {
  readonly server: V1Server;
  readonly asIds: boolean;
  readonly #ledger: PromptLedger | undefined;

  constructor(server: V1Server, asIds: boolean, ledger?: PromptLedger) {
    this.server = server;
    this.asIds = asIds;
    this.#ledger = ledger;
  }

  /** One answer in one piece, with what it counts. */
  async complete(sent: Sent, fields: object, options: CallOptions): Promise<{ answer: Completion; counted: Counted }> {
    try {
      const body = await this.#body(sent, fields, options);
      const answer = await this.server.connection.post('/v1/completions', body, completionShape, options);
      return { answer, counted: this.count(sent, answer) };
    } catch (error) {
      this.lose();
      throw error;
    }
  }

  /** The events of an answer; the caller must then `count` or `lose` it. */
  async *stream(sent: Sent, fields: object, options: RequestOptions): AsyncGenerator<Completion, void> {
    const streamed = { stream: true, stream_options: { include_usage: true }, timings_per_token: true };
    const body = { ...(await this.#body(sent, fields, options)), ...streamed };
    yield* this.server.connection.stream('/v1/completions', body, completionShape, options);
  }

  /** The ids of an answer once more, by llama-server's own route: /v1 lists none that leave a character unfinished. */
  async tokensAgain(sent: Sent, fields: object): Promise<TokenIds> {
    const body = { ...(await this.#body(sent, fields, {})), return_tokens: true };
    const { tokens, timings } = await this.server.connection.post('/completion', body, llamaCompletionShape);
    this.#ledger?.add({ evaluated: timings.prompt_n, reused: timings.cache_n });
    return tokens;
  }

  /**
   * Books the prompt tokens that an answer reports.
   * @throws BenchError `protocol` where it does not report reused tokens, or counts another prompt than was sent
   */
  count({ ids, name }: Sent, answer: Pick<Completion, 'usage' | 'timings'>): Counted {
    const { errors } = this.server.connection;
    const { all, cached } = reportedTokens(answer);
    if (all === undefined) throw errors.protocol('does not count the tokens of a prompt');
    if (cached === undefined) throw errors.protocol(UNKNOWN_REUSE);
    const lineTokens = name.line.length;
    const length = ids.length + lineTokens;
    if (this.asIds && all !== length) throw errors.protocol(`counts ${all} tokens of a prompt of ${length}`);
    if (cached > all) throw errors.protocol(`says that it reused ${cached} of ${all} tokens`);
    this.#ledger?.add({ evaluated: all - cached, reused: cached });
    // The token in front of a unique line may be found under any name.
    const isLineFound = lineTokens === 0 || cached > this.#opening(ids) + lineTokens;
    const reused = isLineFound ? cached - lineTokens : 0;
    return { evaluated: all - lineTokens - reused, reused };
  }

  lose(): void {
    this.#ledger?.lose();
  }

  async #body({ ids, name, isFirst }: Sent, fields: object, options: CallOptions): Promise<object> {
    const opening = this.#opening(ids);
    const all = [...ids.slice(0, opening), ...name.line, ...ids.slice(opening)];
    // A server adds the opening token of a text itself.
    const prompt = this.asIds ? all : await this.server.routes.decode(all.slice(opening), options);
    const named = isFirst ? { ...name.fields, ...name.firstFields } : name.fields;
    return { ...PLAIN, ...fields, ...named, model: this.server.model.id, prompt };
  }

  /** Tokens in front of everything: the one that opens texts, where the model asks for it. */
  #opening([first]: TokenIds): number {
    const { bosToken } = this.server.tokenizer.special;
    return bosToken !== null && first === bosToken ? 1 : 0;
  }
}

/** Prompt tokens in all, and those found in a cache; undefined where the server does not report them. */
function reportedTokens({ usage, timings }: Pick<Completion, 'usage' | 'timings'>) {
  const found = timings?.cache_n;
  return {
    all: usage?.prompt_tokens ?? (found === undefined ? undefined : found + (timings?.prompt_n ?? 0)),
    cached: usage?.prompt_tokens_details?.cached_tokens ?? found,
  };
}
