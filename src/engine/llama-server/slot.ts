import { setTimeout as sleep } from 'node:timers/promises';
import type { CallOptions, Retry } from '../engine-session.ts';
import type { PromptLedger } from '../http/prompt-ledger.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import type { TokenId } from '../token-id.ts';
import { lostCall, meterSum, type TokenMeter, zeroMeter } from '../token-meter.ts';
import {
  type Chunk,
  chunkShape,
  type Completion,
  completionShape,
  erasedShape,
  slotsShape,
  type Timings,
} from './server-shapes.ts';

/** Settings that a server may have of its own, as the port means them: greedy or the whole softmax, no penalties, no chunks moved. */
const PLAIN = {
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
/** The rest of the last event repeats all settings and the whole prompt. */
const FIELDS = ['tokens', 'timings', 'stop_type', 'stop', 'id_slot', 'model', 'tokens_evaluated', 'tokens_predicted'];
const IDLE_LOOK_MS = 5;
const IDLE_LIMIT_MS = 30_000;

/** Fields of a request, beside its tokens. */
export interface Asked {
  readonly n_predict: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly n_probs?: number;
  readonly logit_bias?: readonly (readonly [TokenId, number])[];
}

/** The last event of a stream, checked. */
export interface Finished {
  readonly timings: Timings;
  readonly stopType: string;
}

/**
 * One slot of a server. Every request carries all ids of the sequence; what the server says it found in the slot is held
 * against what the caller left there, so that nothing is evaluated again, or answered from elsewhere, without a word.
 */
export class Slot {
  readonly id: number;
  readonly #connection: ServerConnection;
  readonly #alias: string;
  readonly #ledger: PromptLedger | undefined;
  #meter: TokenMeter = zeroMeter;

  /**
   * @param alias the model, as the server calls it in its answers
   * @param ledger of the engine; none where a server is tried before it is opened
   */
  constructor(connection: ServerConnection, id: number, alias: string, ledger?: PromptLedger) {
    this.#connection = connection;
    this.id = id;
    this.#alias = alias;
    this.#ledger = ledger;
  }

  get meter(): TokenMeter {
    return this.#meter;
  }

  /** Counts time that the server worked beside its own counts. */
  spent(busyMs: number): void {
    this.#count({ ...zeroMeter, busyMs });
  }

  /**
   * Evaluates ids, of which the slot holds the first ones, and samples one token.
   * @param held as many as the slot must have
   * @param options `isStep` where an earlier request of the same call left them there: they are not counted again
   */
  async complete(
    ids: readonly TokenId[],
    held: number,
    asked: Asked,
    { isStep, ...options }: CallOptions & { readonly isStep: boolean },
  ): Promise<Completion> {
    const body = this.#body(ids, held, { ...asked, n_predict: 1 });
    const fields = [...FIELDS, 'completion_probabilities'];
    const completion = await this.#orUnknown(options.signal, () =>
      this.#connection.post('/completion', { ...body, response_fields: fields }, completionShape, options),
    );
    this.#require(completion, ids, held);
    this.#book(completion.timings, ids, 1, isStep);
    return completion;
  }

  /** Evaluates ids, of which the slot holds the first ones. */
  async evaluate(ids: readonly TokenId[], held: number, options: CallOptions): Promise<void> {
    await this.#orUnknown(options.signal, async () => {
      const body = this.#body(ids, held, { n_predict: 0 });
      for await (const chunk of this.#events(body, options)) {
        const finished = this.#finished(chunk, ids, held);
        if (finished === undefined) continue;
        this.#book(finished.timings, ids, 1);
        return;
      }
      throw this.#connection.errors.unreachable('the answer was cut off');
    });
  }

  /**
   * Generates behind ids, of which the slot holds the first ones. Gives the events as they come; the last is `Finished`. Where
   * the caller leaves the loop early the server is stopped, and what it did is counted once it is idle.
   */
  async *generate(
    ids: readonly TokenId[],
    held: number,
    asked: Asked,
    options: CallOptions & { readonly onRetry: (retry: Retry) => void },
  ): AsyncGenerator<Chunk | Finished, void> {
    let seen: Timings | undefined;
    let isWhole = false;
    try {
      for await (const chunk of this.#events({ ...this.#body(ids, held, asked), timings_per_token: true }, options)) {
        const finished = this.#finished(chunk, ids, held);
        if (finished !== undefined) {
          isWhole = true;
          this.#book(finished.timings, ids, finished.timings.predicted_n ?? null);
          yield finished;
          return;
        }
        if (chunk.prompt_progress !== undefined) continue;
        if (chunk.timings !== undefined) {
          if (seen === undefined) this.#requireReuse(chunk.timings, ids, held);
          seen = chunk.timings;
        }
        yield chunk;
      }
      throw this.#connection.errors.unreachable('the answer was cut off');
    } finally {
      if (!isWhole) await this.#stopped(ids, seen);
    }
  }

  /** The tokens that are generated behind ids once more, in one piece and counted nowhere. */
  async again(ids: readonly TokenId[], asked: Asked, options: CallOptions): Promise<readonly TokenId[]> {
    const body = { ...this.#body(ids, 1, asked), response_fields: FIELDS };
    const { tokens, timings } = await this.#connection.post('/completion', body, completionShape, options);
    this.#ledger?.add(countsOf(timings, ids));
    return tokens;
  }

  /** Empties it. */
  async erase(options: CallOptions): Promise<void> {
    await this.#connection.post(`/slots/${this.id}?action=erase`, {}, erasedShape, options);
  }

  /** Waits until the server has stopped working for it; gives the number of tokens that it holds, null where the server does not say. */
  async idle(): Promise<number | null> {
    const deadline = performance.now() + IDLE_LIMIT_MS;
    while (performance.now() < deadline) {
      const slots = await this.#connection.get('/slots', slotsShape);
      const own = slots.find(({ id }) => id === this.id);
      if (own?.is_processing === false) return own.n_prompt_tokens ?? null;
      await sleep(IDLE_LOOK_MS);
    }
    throw this.#connection.errors.busy(`slot ${this.id} did not stop working in ${IDLE_LIMIT_MS / 1000} s`);
  }

  #body(ids: readonly TokenId[], held: number, asked: Asked): object {
    // An empty slot must not find anything, whatever stands in it or in a cache behind it.
    return { ...PLAIN, temperature: 0, ...asked, prompt: ids, id_slot: this.id, cache_prompt: held > 0 };
  }

  #events(body: object, options: CallOptions): AsyncGenerator<Chunk, void> {
    return this.#connection.stream(
      '/completion',
      { ...body, stream: true, response_fields: FIELDS },
      chunkShape,
      options,
    );
  }

  #finished(chunk: Chunk, ids: readonly TokenId[], held: number): Finished | undefined {
    if (chunk.stop !== true) return undefined;
    this.#require(chunk, ids, held);
    return { timings: chunk.timings!, stopType: chunk.stop_type ?? '' };
  }

  /** @throws BenchError `changed`, `protocol` where the answer cannot be that of this model, slot and sequence */
  #require({ id_slot: slot, model, timings }: Chunk, ids: readonly TokenId[], held: number): void {
    const { errors } = this.#connection;
    if (slot !== undefined && slot !== this.id)
      throw errors.protocol(`answered from slot ${slot} in place of ${this.id}`);
    if (model !== undefined && model !== this.#alias)
      throw errors.changed(`it serves ${model} now, and ${this.#alias} before`);
    if (timings === undefined) throw errors.protocol('does not say how many tokens it evaluated');
    this.#requireReuse(timings, ids, held);
  }

  #requireReuse(timings: Timings, ids: readonly TokenId[], held: number): void {
    const { errors } = this.#connection;
    const { reused, evaluated } = countsOf(timings, ids);
    if (reused + evaluated !== ids.length) {
      throw errors.protocol(`counts ${evaluated} evaluated and ${reused} reused tokens of a prompt of ${ids.length}`);
    }
    // The last token of all is evaluated again.
    const least = Math.min(held, ids.length - 1);
    if (reused < least) throw errors.changed(`slot ${this.id} held ${reused} tokens of ${least} that were left in it`);
    if (held === 0 && reused > 0)
      throw errors.protocol(`reused ${reused} tokens of a sequence that it was told not to reuse`);
  }

  /** @param sampled null where the server does not say */
  #book(timings: Timings, ids: readonly TokenId[], sampled: number | null, isStep = false): void {
    const { reused, evaluated } = countsOf(timings, ids);
    this.#ledger?.add({ reused, evaluated });
    const busyMs = timings.prompt_ms + (timings.predicted_ms ?? 0);
    this.#count({
      evaluated,
      reused: isStep ? 0 : reused,
      decoded: sampled === null ? null : Math.max(0, sampled - 1),
      busyMs,
    });
  }

  /** Books what was done before the caller left. */
  async #stopped(ids: readonly TokenId[], timings: Timings | undefined): Promise<void> {
    const holds = await this.idle().catch(() => null);
    if (timings === undefined) this.#lose();
    else this.#book(timings, ids, holds === null ? null : holds - ids.length + 1);
  }

  /** After a call that failed or was aborted nobody knows what was evaluated. */
  async #orUnknown<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      this.#lose();
      if (signal?.aborted === true) await this.idle();
      throw error;
    }
  }

  #lose(): void {
    this.#ledger?.lose();
    this.#count(lostCall);
  }

  #count(counts: TokenMeter): void {
    this.#meter = meterSum(this.#meter, counts);
  }
}

function countsOf(timings: Timings, ids: readonly TokenId[]): { readonly reused: number; readonly evaluated: number } {
  // Older builds name what was evaluated alone.
  return { evaluated: timings.prompt_n, reused: timings.cache_n ?? ids.length - timings.prompt_n };
}
