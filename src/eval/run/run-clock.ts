import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EvaluatedTokens } from '../../store/records/run-description.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunBooks } from '../../store/records/user-bundle.ts';

type SpentMs = RunBooks['spent'];
type Profile = RunProbes['profile'];

const noTime: SpentMs = { warmUp: 0, turns: 0, scoring: 0, checks: 0, measure: 0 };
const noTokens: EvaluatedTokens = { warmUp: 0, turns: 0, prepared: 0, scoring: 0, checks: 0, measure: 0, unbooked: 0 };

/**
 * Adds up the time and the evaluated tokens that one process spends on each part of a run, until they are taken. The tokens are
 * the engine's, over all its sessions: what it evaluates between two parts is unbooked.
 */
export class RunClock {
  readonly #engine: Pick<Engine, 'meter'>;
  readonly #embeddings: Pick<EmbeddingService, 'stats'>;
  #spent: SpentMs = noTime;
  #tokens: EvaluatedTokens | null = noTokens;
  /** Evaluated when the last part ended; undefined before the first begins. */
  #booked: number | undefined;
  /** Of the engine and the embedder, when the books were last taken. */
  #taken = { modelMs: 0, embedderMs: 0 };

  constructor(engine: Pick<Engine, 'meter'>, embeddings: Pick<EmbeddingService, 'stats'>) {
    this.#engine = engine;
    this.#embeddings = embeddings;
  }

  /** Gives what was booked since it was last asked, and begins with empty books. */
  async take(): Promise<RunBooks> {
    await this.#book('unbooked');
    const { busyMs } = await this.#engine.meter();
    const { callMs } = this.#embeddings.stats();
    const now = { modelMs: busyMs ?? 0, embedderMs: callMs };
    const books: RunBooks = {
      spent: this.#spent,
      evaluatedTokens: this.#tokens,
      modelMs: now.modelMs - this.#taken.modelMs,
      embedderMs: now.embedderMs - this.#taken.embedderMs,
    };
    this.#taken = now;
    this.#spent = noTime;
    this.#tokens = this.#tokens === null ? null : noTokens;
    return books;
  }

  /**
   * Runs a part; one that fails counts too. Parts follow each other.
   * @param tokensOf the part that its tokens are booked on. Default: the part itself
   */
  async time<T>(
    part: keyof SpentMs,
    work: () => Promise<T>,
    // A judge answers elsewhere: nothing is evaluated here.
    tokensOf: keyof EvaluatedTokens = part === 'judge' ? 'unbooked' : part,
  ): Promise<T> {
    await this.#book('unbooked');
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#spent = { ...this.#spent, [part]: (this.#spent[part] ?? 0) + performance.now() - start };
      await this.#book(tokensOf);
    }
  }

  async #book(part: keyof EvaluatedTokens): Promise<void> {
    const { evaluated } = await this.#engine.meter();
    const tokens = this.#tokens;
    const newly = evaluated === null ? null : evaluated - (this.#booked ?? evaluated);
    this.#tokens = tokens === null || newly === null ? null : { ...tokens, [part]: tokens[part] + newly };
    this.#booked = evaluated ?? undefined;
  }
}

/** The books of a run with those of a part of it. */
export function withBooks(profile: Profile, { spent, evaluatedTokens, modelMs, embedderMs }: RunBooks): Profile {
  const { spent: before = noTime, evaluatedTokens: tokensBefore = noTokens } = profile;
  return {
    ...profile,
    modelMs: profile.modelMs + modelMs,
    embedderMs: profile.embedderMs + embedderMs,
    spent: added(before, spent),
    evaluatedTokens: tokensBefore === null || evaluatedTokens === null ? null : added(tokensBefore, evaluatedTokens),
  };
}

/** The numbers of both under each name. */
function added<Numbers extends Readonly<Record<string, number>>>(a: Numbers, b: Numbers): Numbers {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)])) as Numbers;
}
