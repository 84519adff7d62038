import { BaseSession, type GenerateOptions, type SessionParts, type UntimedGeneration } from '../base-session.ts';
import type { CallOptions, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import { PLACEHOLDER_TOKEN } from '../llama-state/state-file.ts';
import type { SequenceScore } from '../sequence-score.ts';
import { type TokenId, type TokenIds, UNKNOWN_TOKEN } from '../token-id.ts';

/** A session on a server: every request carries the whole sequence, and the server reuses the part that it has cached. */
export abstract class ServerSession<Parts extends SessionParts> extends BaseSession<Parts> {
  protected abstract sendEvaluate(ids: TokenIds, options: CallOptions): Promise<void>;
  protected abstract sendGenerate(
    ids: TokenIds,
    limits: GenerationLimits,
    options: GenerateOptions,
  ): Promise<UntimedGeneration>;
  protected abstract sendScore(ids: TokenIds, continuation: TokenIds, options: ScoreOptions): Promise<SequenceScore>;

  /** Runs a call. If it fails, updates session and counts to what the server may have done. */
  protected abstract guard<T>(call: () => Promise<T>): Promise<T>;

  protected async evaluateNow(tokens: TokenIds, options: CallOptions): Promise<void> {
    await this.guard(() => this.sendEvaluate(this.#withSession(tokens), options));
    this.#follow(tokens);
  }

  protected async generateNow(tokens: TokenIds, limits: GenerationLimits, options: GenerateOptions) {
    const generation = await this.guard(() => this.sendGenerate(this.#withSession(tokens), limits, options));
    const evaluated = generation.stop === 'end' ? generation.tokens : generation.tokens.slice(0, -1);
    const unknown = evaluated.indexOf(UNKNOWN_TOKEN);
    // An unknown id cannot be sent again, so the session ends before it.
    this.#follow([...tokens, ...evaluated.slice(0, unknown === -1 ? undefined : unknown)]);
    return generation;
  }

  protected async scoreNow(tokens: TokenIds, continuation: TokenIds, options: ScoreOptions): Promise<SequenceScore> {
    const score = await this.guard(() => this.sendScore(this.#withSession(tokens), continuation, options));
    this.#follow([...tokens, ...continuation.slice(0, -1)]);
    return score;
  }

  #withSession(tokens: TokenIds): TokenId[] {
    return [...this.tokens.map((token) => (token === UNKNOWN_TOKEN ? PLACEHOLDER_TOKEN : token)), ...tokens];
  }

  #follow(tokens: TokenIds): void {
    this.parts.cells.follow([...this.tokens, ...tokens]);
  }
}
