import type { CallOptions, Generation, GenerationLimits } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import { forcedScore, type ScoredModel } from '../http/forced-score.ts';
import type { SequenceScore } from '../sequence-score.ts';
import type { TokenId } from '../token-id.ts';
import { lostCall, meterSum, type TokenMeter, zeroMeter } from '../token-meter.ts';
import type { CacheName, CacheNames } from './cache-names.ts';
import type { Counted, PromptSender, Sent } from './prompt-sender.ts';
import { type AnswerTelling, generateBehind } from './v1-generation.ts';
import { forcedToken, recomputedScore } from './v1-scores.ts';
import { requireSameModel } from './v1-server.ts';

/** The way in which a server scores a continuation: by the log-probabilities of a prompt, or token by token; null for none. */
export type Scoring =
  { readonly by: 'prompt'; readonly listed: number } | { readonly by: 'force'; readonly model: ScoredModel } | null;

/** Facts of a proven server that calls need. */
export interface CallParts {
  readonly sender: PromptSender;
  readonly names: CacheNames;
  readonly telling: AnswerTelling;
  readonly scoring: Scoring;
  readonly prefixCache: EngineCapabilities['prefixCache'];
  /** Of the session among those that are open. */
  readonly place: number;
}

/**
 * The calls of one session: each sends the whole sequence under the name that the session has in the server's prefix cache.
 * What the server says it found is held against what was left there.
 */
export class NamedCalls {
  readonly #parts: CallParts;
  #name: CacheName;
  /** Nothing was sent under the name, and nobody else has it. */
  #isFresh = true;
  /** Of the sequence, the first tokens that the server has evaluated under the name. */
  #held = 0;
  #meter: TokenMeter = zeroMeter;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#name = parts.names.of(undefined, parts.place);
  }

  get meter(): TokenMeter {
    return this.#meter;
  }

  /** Takes the name of a scope, or one that nobody had. */
  rename(cacheScope: string | undefined): void {
    const { names, place, prefixCache } = this.#parts;
    // Of a cache that is a session's own nothing is found again.
    const scope = prefixCache?.span === 'engine' ? cacheScope : undefined;
    this.#name = names.of(scope, place);
    this.#isFresh = scope === undefined;
    this.#held = 0;
  }

  /** The sequence was cut. */
  cut(length: number): void {
    this.#held = Math.min(this.#held, length);
  }

  evaluate(ids: readonly TokenId[], options: CallOptions): Promise<void> {
    return this.#timed(async () => {
      const sent = this.#sent(ids);
      // No fewer are sampled than one.
      const { counted } = await this.#parts.sender.complete(sent, { max_tokens: 1 }, options);
      this.#book(counted, sent, 1);
    });
  }

  /** @param start of the call, on the clock of `performance.now()` */
  generate(
    ids: readonly TokenId[],
    limits: GenerationLimits,
    options: CallOptions & { readonly start: number },
  ): Promise<Generation> {
    const { sender, telling } = this.#parts;
    return this.#timed(async () => {
      const sent = this.#sent(ids);
      const { generation, counted, sampled } = await generateBehind(sender, sent, limits, telling, options);
      if (counted === null) this.#lose();
      else {
        this.#book(counted, sent, sampled);
        await requireSameModel(sender.server, {});
      }
      return generation;
    });
  }

  score(
    ids: readonly TokenId[],
    continuation: readonly TokenId[],
    scoring: NonNullable<Scoring>,
    options: CallOptions & { readonly distributions: boolean },
  ): Promise<SequenceScore> {
    return this.#timed(() =>
      scoring.by === 'prompt'
        ? this.#scoreByPrompt(ids, continuation, scoring.listed, options)
        : this.#scoreByForce(ids, continuation, scoring.model, options),
    );
  }

  async #scoreByPrompt(
    ids: readonly TokenId[],
    continuation: readonly TokenId[],
    listed: number,
    options: CallOptions,
  ): Promise<SequenceScore> {
    const sent = this.#sent(ids);
    const { score, counted } = await recomputedScore(this.#parts.sender, sent, continuation, listed, options);
    // Evaluated past the cache: what was held is not looked for.
    this.#held = 0;
    this.#book(counted, sent, 1);
    return score;
  }

  #scoreByForce(
    ids: readonly TokenId[],
    continuation: readonly TokenId[],
    model: ScoredModel,
    { distributions, ...options }: CallOptions & { readonly distributions: boolean },
  ): Promise<SequenceScore> {
    return forcedScore(
      async (request) => {
        const sent = this.#sent(request.ids);
        const { found, counted } = await forcedToken(this.#parts.sender, request, sent, options);
        this.#book(counted, sent, 1, request.isStep);
        return found;
      },
      ...([ids, this.#held, continuation, model, distributions] as const),
    );
  }

  #sent(ids: readonly TokenId[]): Sent {
    return { ids, name: this.#name, isFirst: this.#isFresh };
  }

  /** @param sampled null where the server does not say @param isStep of a call that counted before what was there already */
  #book({ evaluated, reused }: Counted, { ids, name }: Sent, sampled: number | null, isStep = false): void {
    const { sender, prefixCache } = this.#parts;
    const { errors } = sender.server.connection;
    if (this.#isFresh && reused > 0) {
      throw errors.protocol(`reused ${reused} tokens of a prompt under a name that nobody used before`);
    }
    const left = Math.min(this.#held, ids.length - 1) + name.line.length;
    const block = prefixCache?.span === 'engine' ? prefixCache.blockTokens : Infinity;
    const expected = left - (left % block) - name.line.length;
    // Less than all is room that the server needed; nothing at all is another server, or the same one started anew.
    if (reused === 0 && expected > 1) {
      throw errors.changed(`it found none of the ${this.#held} tokens that were left in its cache`);
    }
    this.#isFresh = false;
    this.#held = ids.length;
    const decoded = sampled === null ? null : Math.max(0, sampled - 1);
    this.#count({ evaluated, reused: isStep ? 0 : reused, decoded, busyMs: 0 });
  }

  #lose(): void {
    this.#isFresh = false;
    this.#held = 0;
    this.#count(lostCall);
  }

  /** After a call that failed nobody knows what was evaluated. */
  async #timed<T>(call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      const result = await call();
      this.#count({ ...zeroMeter, busyMs: performance.now() - start });
      return result;
    } catch (error) {
      this.#lose();
      throw error;
    }
  }

  #count(counts: TokenMeter): void {
    this.#meter = meterSum(this.#meter, counts);
  }
}
