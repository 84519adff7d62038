import { availableParallelism, loadavg } from 'node:os';
import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { addCounts, sumByName } from './workers/add-counts.ts';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EvaluatedTokens } from '../../store/records/run-description.ts';
import { noBooks, type RunBooks } from '../../store/records/worker-result-bundle.ts';

export type RunLevelResults = ReturnType<typeof runLevelResults>;

/** Results of a run other than turns: probes, measurements, time and tokens of all workers. Each is stored at once. */
export function runLevelResults(
  database: BenchDatabase,
  run: RunRecord,
  clock: PhaseTotals,
  start: Readonly<Record<'coldStartMs' | 'modelLoadMs' | 'started', number>>,
) {
  const runs = new RunRepository(database);
  const users = new UserClaimRepository(database, run.id);
  const spent = run.probes?.profile ?? { wallMs: 0, modelMs: 0, embedderMs: 0, coldStartMs: start.coldStartMs };
  let profile: RunProbes['profile'] = { ...spent, modelMs: spent.modelMs + start.modelLoadMs };
  let probes = run.probes;

  /** Stores a change, with the time and tokens of this process and of the users that workers have finished. */
  const save = async (change: Partial<Omit<RunProbes, 'profile'>>): Promise<void> => {
    profile = addBooks(profile, await clock.take());
    const saved = database.transaction(() => {
      const shares = users.takeShares();
      const counts = new Map(shares.map(({ worker, share }) => [worker, share.counts]));
      const booked = shares.reduce((sum, { share }) => addBooks(sum, share.books), profile);
      const wallMs = spent.wallMs + performance.now() - start.started;
      const counted = counts.size === 0 ? {} : addCounts([...counts.values()]);
      const changed = { ...probes!, ...counted, ...change, profile: { ...booked, wallMs } };
      runs.update(run.id, { probes: changed });
      return { changed, booked };
    });
    probes = saved.changed;
    profile = saved.booked;
  };
  return {
    /** Null until the self-tests have run. */
    get probes(): RunProbes | null {
      return probes;
    },
    async begin(tests: Omit<RunProbes, 'profile' | 'kvStores' | 'isolation' | 'measured'>): Promise<void> {
      probes = { ...tests, profile, kvStores: {}, isolation: null, measured: null };
      await save({});
    },
    save,
  };
}

/** The highest load of the machine so far, for the check of clocks. @param before the highest until now */
export function machineLoad(before: RunProbes['load']): NonNullable<RunProbes['load']> {
  const [average = 0] = loadavg();
  return { cores: availableParallelism(), average: Math.max(before?.average ?? 0, average) };
}

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
