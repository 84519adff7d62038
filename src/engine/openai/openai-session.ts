import type { GenerateOptions, SessionParts } from '../base-session.ts';
import type { CallOptions, ClearOptions, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import { forcedScore, type SendForced } from '../http/forced-score.ts';
import { ServerSession } from '../http/server-session.ts';
import type { SequenceScore } from '../sequence-score.ts';
import type { TokenIds } from '../token-id.ts';
import { TokenCounter, type TokenMeter } from '../token-meter.ts';
import type { ProbedServer } from './probe-server.ts';
import type { Counts, PromptSender, Prompt } from './prompt-sender.ts';
import { generateBehind } from './v1-generation.ts';
import { forcedToken, recomputedScore } from './v1-scores.ts';
import { requireSameModel } from './describe-v1-server.ts';

interface OpenAiParts extends SessionParts {
  readonly sender: PromptSender;
  readonly probed: Pick<ProbedServer, 'names' | 'reporting' | 'scoring'>;
  readonly sessionIndex: number;
}

/**
 * A session that sends the whole sequence with every call, under its name in the server's prefix cache. Compares the number of tokens
 * reported as reused with the number that should be cached.
 */
export class OpenAiSession extends ServerSession<OpenAiParts> {
  #name = this.parts.probed.names.name(undefined, this.parts.sessionIndex);
  /** The name was not used yet, by this or any other session. */
  #isFresh = true;
  /** How many of the first tokens the server has evaluated under this name. */
  #held = 0;
  readonly #counts = new TokenCounter();

  reading(): TokenMeter {
    return this.#counts.reading;
  }

  protected override async clearNow({ cacheScope }: ClearOptions): Promise<void> {
    await this.truncateNow(0);
    const { probed, sessionIndex, capabilities } = this.parts;
    // A per-session cache cannot reuse other sequences.
    const scope = capabilities.prefixCache?.span === 'engine' ? cacheScope : undefined;
    this.#name = probed.names.name(scope, sessionIndex);
    this.#isFresh = scope === undefined;
    this.#held = 0;
  }

  protected async keepFirst(kept: number): Promise<void> {
    this.#held = Math.min(this.#held, kept);
  }

  protected async sendEvaluate(ids: TokenIds, options: CallOptions): Promise<void> {
    const prompt = this.#prompt(ids);
    // A server samples at least one token.
    const { counts } = await this.parts.sender.complete(prompt, { max_tokens: 1 }, options);
    this.#addCounts(counts, prompt, 1);
  }

  protected async sendGenerate(ids: TokenIds, limits: GenerationLimits, options: GenerateOptions) {
    const { sender, probed } = this.parts;
    const request = { sender, prompt: this.#prompt(ids), reporting: probed.reporting };
    const { generation, counts, sampled } = await generateBehind(request, limits, options);
    if (counts === null) this.#markLost();
    else {
      this.#addCounts(counts, request.prompt, sampled);
      await requireSameModel(sender.server, {});
    }
    return generation;
  }

  protected async sendScore(ids: TokenIds, continuation: TokenIds, options: ScoreOptions): Promise<SequenceScore> {
    const { sender, probed } = this.parts;
    const scoring = probed.scoring!;
    const { distributions = false, signal } = options;
    if (scoring.by === 'prompt') {
      const prompt = this.#prompt(ids);
      const request = { continuation, listed: scoring.listed, signal };
      const { score, counts } = await recomputedScore(sender, prompt, request);
      // The server did not read its cache, so no reuse is expected in this answer.
      this.#held = 0;
      this.#addCounts(counts, prompt, 1);
      return score;
    }
    const send: SendForced = async (request) => {
      const prompt = this.#prompt(request.ids);
      const { found, counts } = await forcedToken(sender, prompt, request, { signal });
      this.#addCounts(counts, prompt, 1, request.isStep);
      return found;
    };
    return forcedScore(send, { ids, held: this.#held, continuation, distributions }, scoring.model);
  }

  #prompt(ids: TokenIds): Prompt {
    return { ids, name: this.#name, isFirst: this.#isFresh };
  }

  /**
   * @param sampled sampled tokens, null if unknown
   * @param isStep true for a later step of one score, whose reused tokens the first step counted
   */
  #addCounts({ evaluated, reused }: Counts, { ids, name }: Prompt, sampled: number | null, isStep = false): void {
    const { sender, capabilities } = this.parts;
    const { errors } = sender.server.connection;
    if (this.#isFresh && reused > 0) throw errors.protocol(`reused ${reused} tokens of a prompt under a new name`);
    const cached = Math.min(this.#held, ids.length - 1) + name.line.length;
    const block = capabilities.prefixCache?.span === 'engine' ? capabilities.prefixCache.blockTokens : Infinity;
    const expected = cached - (cached % block) - name.line.length;
    // Less reuse is allowed: the server may have evicted some. None at all is an error: it was restarted or replaced.
    if (reused === 0 && expected > 1) {
      throw errors.changed(`it reused none of the ${this.#held} tokens that should be in its cache`);
    }
    this.#isFresh = false;
    this.#held = ids.length;
    const decoded = sampled === null ? null : Math.max(0, sampled - 1);
    this.#counts.add({ evaluated, reused: isStep ? 0 : reused, decoded });
  }

  #markLost(): void {
    this.#isFresh = false;
    this.#held = 0;
    this.#counts.add({ lost: 1 });
  }

  /** Measures a call. If it fails, it is unknown what the server evaluated. */
  protected async guard<T>(call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      const result = await call();
      this.#counts.add({ busyMs: performance.now() - start });
      return result;
    } catch (error) {
      this.#markLost();
      throw error;
    }
  }
}
