import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { listedProbabilitiesShape } from '../http/forced-score.ts';
import type { CallOptions, Retry } from '../engine-session.ts';
import type { PromptTokenLedger } from '../http/prompt-token-ledger.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import type { TokenId, TokenIds } from '../token-id.ts';
import { TokenCounter } from '../token-meter.ts';

const count = z.int().nonnegative();

export const slotsShape = z.array(
  z.object({
    id: count,
    n_ctx: count,
    is_processing: z.boolean(),
    speculative: z.boolean().optional(),
    n_prompt_tokens: count.optional(),
  }),
);

const timingsShape = z.object({
  cache_n: count.optional(),
  prompt_n: count,
  prompt_ms: z.number(),
  predicted_n: count.optional(),
  predicted_ms: z.number().optional(),
});

type Timings = z.output<typeof timingsShape>;

/** Event of a streamed `/completion`. */
const chunkShape = z.object({
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

/** Response of `/completion`. Optional fields are missing in older builds. */
export const completionShape = chunkShape.extend({
  id_slot: z.int(),
  tokens: z.array(z.int()),
  stop_type: z.string(),
  timings: timingsShape,
  completion_probabilities: z.array(listedProbabilitiesShape).optional(),
});

type Completion = z.output<typeof completionShape>;

const erasedShape = z.object({ n_erased: count });

/** Overrides server settings: no penalties, no sampler except temperature, no reuse by moving chunks. */
const SAMPLING = {
  samplers: ['temperature'],
  repeat_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  dry_multiplier: 0,
  mirostat: 0,
  dynatemp_range: 0,
  ignore_eos: false,
  backend_sampling: false,
  n_cache_reuse: 0,
  n_keep: 0,
  sse_ping_interval: 5,
  return_tokens: true,
};
/** Requested response fields. Without this list, the last event repeats all settings and the prompt. */
const FIELDS = ['tokens', 'timings', 'stop_type', 'stop', 'id_slot', 'model', 'tokens_evaluated', 'tokens_predicted'];
const IDLE_POLL_MS = 5;
const IDLE_LIMIT_MS = 30_000;

interface RequestFields {
  readonly n_predict: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly n_probs?: number;
  readonly logit_bias?: readonly (readonly [TokenId, number])[];
}

/**
 * One slot of a llama-server. Every request carries the whole sequence. The number of tokens reported as reused is compared with
 * the number that the slot should hold; evaluating those again, or reusing others, is an error.
 */
export class Slot {
  readonly id: number;
  readonly counts = new TokenCounter();
  readonly errors: ServerConnection['errors'];
  readonly #connection: ServerConnection;
  readonly #alias: string;
  readonly #ledger: PromptTokenLedger | undefined;

  /** @param alias the server's name for the model @param ledger of the engine; none while probing the server */
  constructor(connection: ServerConnection, id: number, alias: string, ledger?: PromptTokenLedger) {
    this.#connection = connection;
    this.errors = connection.errors;
    this.id = id;
    this.#alias = alias;
    this.#ledger = ledger;
  }

  /**
   * Evaluates ids and samples one token.
   * @param held how many of the first ids the slot must hold
   * @param options `isStep`: an earlier request of the same call evaluated them, so they are not counted as reused
   */
  async complete(
    ids: TokenIds,
    held: number,
    fields: RequestFields,
    { isStep, ...options }: CallOptions & { readonly isStep: boolean },
  ): Promise<Completion> {
    const response_fields = [...FIELDS, 'completion_probabilities'];
    const body = { ...this.#body(ids, held, { ...fields, n_predict: 1 }), response_fields };
    const completion = await this.#markLostOnError(options.signal, () =>
      this.#connection.post('/completion', body, completionShape, options),
    );
    this.#addCounts(this.#checked(completion, ids, held), ids, 1, isStep);
    return completion;
  }

  async evaluate(ids: TokenIds, held: number, options: CallOptions): Promise<void> {
    await this.#markLostOnError(options.signal, async () => {
      for await (const chunk of this.#events(this.#body(ids, held, { n_predict: 0 }), options)) {
        if (chunk.stop !== true) continue;
        this.#addCounts(this.#checked(chunk, ids, held), ids, 1);
        return;
      }
      throw this.errors.unreachable('the answer was cut off');
    });
  }

  /**
   * Generates after ids, and yields events as they arrive; the last one has `stop`. If the caller leaves the loop early, stops the
   * server, waits until it is idle, and counts its work.
   * @param held how many of the first ids the slot must hold
   */
  async *generate(
    ids: TokenIds,
    held: number,
    fields: RequestFields,
    options: CallOptions & { readonly onRetry: (retry: Retry) => void },
  ): AsyncGenerator<Chunk, void> {
    let latest: Timings | undefined;
    let isWhole = false;
    try {
      for await (const chunk of this.#events({ ...this.#body(ids, held, fields), timings_per_token: true }, options)) {
        if (chunk.stop === true) {
          const timings = this.#checked(chunk, ids, held);
          isWhole = true;
          this.#addCounts(timings, ids, timings.predicted_n ?? null);
          yield chunk;
          return;
        }
        if (chunk.prompt_progress !== undefined) continue;
        if (chunk.timings !== undefined && latest === undefined) this.#requireReuse(chunk.timings, ids, held);
        latest = chunk.timings ?? latest;
        yield chunk;
      }
      throw this.errors.unreachable('the answer was cut off');
    } finally {
      if (!isWhole) await this.#addStoppedCounts(ids, latest);
    }
  }

  /** Repeats a generation without streaming, and without counting it for the session. */
  async generateAgain(ids: TokenIds, fields: RequestFields): Promise<TokenIds> {
    const body = { ...this.#body(ids, 1, fields), response_fields: FIELDS };
    const { tokens, timings } = await this.#connection.post('/completion', body, completionShape);
    this.#ledger?.add(promptTokens(timings, ids));
    return tokens;
  }

  async erase(options: CallOptions): Promise<void> {
    await this.#connection.post(`/slots/${this.id}?action=erase`, {}, erasedShape, options);
  }

  /** Waits until the slot is idle. @returns how many tokens it holds; null if the server does not tell */
  async #idle(): Promise<number | null> {
    const deadline = performance.now() + IDLE_LIMIT_MS;
    while (performance.now() < deadline) {
      const slots = await this.#connection.get('/slots', slotsShape);
      const own = slots.find(({ id }) => id === this.id);
      if (own?.is_processing === false) return own.n_prompt_tokens ?? null;
      await sleep(IDLE_POLL_MS);
    }
    throw this.errors.busy(`slot ${this.id} did not stop working in ${IDLE_LIMIT_MS / 1000} s`);
  }

  #body(ids: TokenIds, held: number, fields: RequestFields): object {
    // For a new sequence, forbids reuse from the slot and from any other cache.
    return { ...SAMPLING, temperature: 0, ...fields, prompt: ids, id_slot: this.id, cache_prompt: held > 0 };
  }

  #events(body: object, options: CallOptions): AsyncGenerator<Chunk, void> {
    const streamed = { ...body, stream: true, response_fields: FIELDS };
    return this.#connection.stream('/completion', streamed, chunkShape, options);
  }

  /** Checks an answer. @returns its timings @throws BenchError `changed`, `protocol` if model, slot or reuse is wrong */
  #checked({ id_slot: slot, model, timings }: Chunk, ids: TokenIds, held: number): Timings {
    const { errors } = this;
    if (slot !== undefined && slot !== this.id) {
      throw errors.protocol(`answered from slot ${slot} instead of ${this.id}`);
    }
    if (model !== undefined && model !== this.#alias) {
      throw errors.changed(`it serves ${model} now, but served ${this.#alias}`);
    }
    if (timings === undefined) throw errors.protocol('does not tell how many tokens it evaluated');
    this.#requireReuse(timings, ids, held);
    return timings;
  }

  #requireReuse(timings: Timings, ids: TokenIds, held: number): void {
    const { errors } = this.#connection;
    const { reused, evaluated } = promptTokens(timings, ids);
    if (reused + evaluated !== ids.length) {
      throw errors.protocol(`reports ${evaluated} evaluated and ${reused} reused tokens for a prompt of ${ids.length}`);
    }
    // A server always evaluates the last token.
    const least = Math.min(held, ids.length - 1);
    if (reused < least) throw errors.changed(`slot ${this.id} has lost tokens: it reused ${reused} of ${least}`);
    if (held === 0 && reused > 0) {
      throw errors.protocol(`reused ${reused} tokens, although the request forbade reuse`);
    }
  }

  /** @param sampled number of sampled tokens; null if unknown */
  #addCounts(timings: Timings, ids: TokenIds, sampled: number | null, isStep = false): void {
    const { reused, evaluated } = promptTokens(timings, ids);
    this.#ledger?.add({ reused, evaluated });
    const busyMs = timings.prompt_ms + (timings.predicted_ms ?? 0);
    const decoded = sampled === null ? null : Math.max(0, sampled - 1);
    this.counts.add({ evaluated, reused: isStep ? 0 : reused, decoded, busyMs });
  }

  /** Counts the work done before the caller left. */
  async #addStoppedCounts(ids: TokenIds, timings: Timings | undefined): Promise<void> {
    const holds = await this.#idle().catch(() => null);
    if (timings === undefined) this.#markLost();
    else this.#addCounts(timings, ids, holds === null ? null : holds - ids.length + 1);
  }

  async #markLostOnError<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      this.#markLost();
      if (signal?.aborted === true) await this.#idle();
      throw error;
    }
  }

  #markLost(): void {
    this.#ledger?.markLost();
    this.counts.add({ lost: 1 });
  }
}

export function promptTokens(timings: Timings, ids: TokenIds): { readonly reused: number; readonly evaluated: number } {
  // Older builds report only evaluated tokens.
  return { evaluated: timings.prompt_n, reused: timings.cache_n ?? ids.length - timings.prompt_n };
}
