import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EvaluatedTokens } from '../../store/records/run-description.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import { noBooks, type RunBooks } from '../../store/records/worker-result-bundle.ts';
import { sumByName } from './workers/add-counts.ts';

type SpentMs = RunBooks['spent'];
type Profile = RunProbes['profile'];

const { spent: noTime, evaluatedTokens: noTokens } = noBooks;

/** Adds up time and evaluated tokens per phase of a run. Tokens evaluated between two phases are `unbooked`. */
export class PhaseTotals {
  readonly #engine: Pick<Engine, 'meter'>;
  readonly #embeddings: Pick<EmbeddingService, 'stats'>;
  #spent: SpentMs = noTime;
  #tokens: EvaluatedTokens | null = noTokens;
  /** The engine's count at the end of the last phase; undefined before the first. */
  #booked: number | undefined;
  #taken = { modelMs: 0, embedderMs: 0 };

  constructor(engine: Pick<Engine, 'meter'>, embeddings: Pick<EmbeddingService, 'stats'>) {
    this.#engine = engine;
    this.#embeddings = embeddings;
  }

  /** Returns what was added up since the last call, and starts again at zero. */
  async take(): Promise<RunBooks> {
    await this.#book('unbooked');
    const { busyMs } = await this.#engine.meter();
    const before = this.#taken;
    this.#taken = { modelMs: busyMs ?? 0, embedderMs: this.#embeddings.stats().callMs };
    const [spent, evaluatedTokens] = [this.#spent, this.#tokens];
    this.#spent = noTime;
    this.#tokens = evaluatedTokens === null ? null : noTokens;
    const modelMs = this.#taken.modelMs - before.modelMs;
    return { spent, evaluatedTokens, modelMs, embedderMs: this.#taken.embedderMs - before.embedderMs };
  }

  /** Times a phase, even if it fails. @param tokenPhase phase that its tokens are booked on */
  async time<T>(
    phase: keyof SpentMs,
    work: () => Promise<T>,
    // The judge runs on a server: this engine evaluates nothing meanwhile.
    tokenPhase: keyof EvaluatedTokens = phase === 'judge' ? 'unbooked' : phase,
  ): Promise<T> {
    await this.#book('unbooked');
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#spent = { ...this.#spent, [phase]: (this.#spent[phase] ?? 0) + performance.now() - start };
      await this.#book(tokenPhase);
    }
  }

  async #book(phase: keyof EvaluatedTokens): Promise<void> {
    const { evaluated } = await this.#engine.meter();
    const tokens = this.#tokens;
    const newly = evaluated === null ? null : evaluated - (this.#booked ?? evaluated);
    this.#tokens = tokens === null || newly === null ? null : { ...tokens, [phase]: tokens[phase] + newly };
    this.#booked = evaluated ?? undefined;
  }
}

export function addBooks(profile: Profile, { spent, evaluatedTokens, modelMs, embedderMs }: RunBooks): Profile {
  const { spent: before = noTime, evaluatedTokens: tokensBefore = noTokens } = profile;
  return {
    ...profile,
    modelMs: profile.modelMs + modelMs,
    embedderMs: profile.embedderMs + embedderMs,
    spent: sumByName([before, spent]),
    evaluatedTokens:
      tokensBefore === null || evaluatedTokens === null ? null : sumByName([tokensBefore, evaluatedTokens]),
  };
}
