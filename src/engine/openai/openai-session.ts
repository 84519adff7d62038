import type { GenerateOptions, SessionParts } from '../base-session.ts';
import type { CallOptions, ClearOptions, Generation, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import { ServerSession } from '../http/server-session.ts';
import type { SequenceScore } from '../sequence-score.ts';
import type { TokenIds } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import { CachedCalls, type CallParts } from './cached-calls.ts';

/** A list of ids that every call sends whole: the server finds in its cache what it still has of them. */
export class OpenAiSession extends ServerSession<SessionParts> {
  readonly #calls: CachedCalls;

  constructor(parts: SessionParts, callParts: CallParts) {
    super(parts);
    this.#calls = new CachedCalls(callParts);
  }

  reading(): TokenMeter {
    return this.#calls.meter;
  }

  protected override async clearNow({ cacheScope }: ClearOptions): Promise<void> {
    await this.truncateNow(0);
    this.#calls.rename(cacheScope);
  }

  protected sendEvaluate(ids: TokenIds, options: CallOptions): Promise<void> {
    return this.#calls.evaluate(ids, options);
  }

  protected sendGenerate(ids: TokenIds, limits: GenerationLimits, options: GenerateOptions): Promise<Generation> {
    return this.#calls.generate(ids, limits, options);
  }

  protected sendScore(ids: TokenIds, continuation: TokenIds, options: ScoreOptions): Promise<SequenceScore> {
    return this.#calls.score(ids, continuation, options);
  }

  protected keepFirst(kept: number): Promise<void> {
    this.#calls.cut(kept);
    return Promise.resolve();
  }

  protected release(): Promise<void> {
    return Promise.resolve();
  }
}
