import { availableParallelism, loadavg } from 'node:os';
import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { RunUserRepository } from '../../store/run-user-repository.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { RunBooks, WorkerCounts } from '../../store/records/worker-result-bundle.ts';
import { addCounts, added } from './workers/count-totals.ts';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EvaluatedTokens } from '../../store/records/run-description.ts';

export interface ProcessStart {
  readonly coldStartMs: number;
  readonly modelLoadMs: number;
  readonly started: number;
}

/** The findings of a run beside its turns, stored as they come, with the books of all who work on it. */
export class RunFindings {
  readonly #database: BenchDatabase;
  readonly #runs: RunRepository;
  readonly #users: RunUserRepository;
  readonly #runId: string;
  readonly #clock: RunClock;
  readonly #start: ProcessStart;
  #counts: ReadonlyMap<string, WorkerCounts> = new Map();
  readonly #wallMsBefore: number;
  #profile: RunProbes['profile'];
  #probes: RunProbes | null;

  constructor(database: BenchDatabase, run: RunRecord, clock: RunClock, start: ProcessStart) {
    this.#database = database;
    this.#runs = new RunRepository(database);
    this.#users = new RunUserRepository(database, run.id);
    this.#runId = run.id;
    this.#clock = clock;
    this.#start = start;
    this.#probes = run.probes;
    const spent = run.probes?.profile ?? { wallMs: 0, modelMs: 0, embedderMs: 0, coldStartMs: start.coldStartMs };
    this.#profile = { ...spent, modelMs: spent.modelMs + start.modelLoadMs };
    this.#wallMsBefore = spent.wallMs;
  }

  /** Null until the self-tests have passed. */
  get probes(): RunProbes | null {
    return this.#probes;
  }

  async begin(tests: Omit<RunProbes, 'profile' | 'kvStores' | 'isolation' | 'measured'>): Promise<void> {
    this.#probes = { ...tests, profile: this.#profile, kvStores: {}, isolation: null, measured: null };
    await this.save({});
  }

  /** Stores findings, the books of this process, and what workers say of the users whom they have finished. */
  async save(change: Partial<Omit<RunProbes, 'profile'>>): Promise<void> {
    this.#profile = withBooks(this.#profile, await this.#clock.take());
    const saved = this.#database.transaction(() => {
      const shares = this.#users.takeShares();
      const counts = new Map([...this.#counts, ...shares.map(({ worker, share }) => [worker, share.counts] as const)]);
      const profile = shares.reduce((sum, { share }) => withBooks(sum, share.books), this.#profile);
      const wallMs = this.#wallMsBefore + performance.now() - this.#start.started;
      const counted = counts.size === 0 ? {} : addCounts([...counts.values()]);
      const probes = { ...this.#probes!, ...counted, ...change, profile: { ...profile, wallMs } };
      this.#runs.update(this.#runId, { probes });
      return { probes, profile, counts };
    });
    this.#probes = saved.probes;
    this.#profile = saved.profile;
    this.#counts = saved.counts;
  }
}

/** The load of the machine, for the check of clocks. @param before the highest so far */
export function machineLoad(before: RunProbes['load']): NonNullable<RunProbes['load']> {
  const [average = 0] = loadavg();
  return { cores: availableParallelism(), average: Math.max(before?.average ?? 0, average) };
}

type SpentMs = RunBooks['spent'];
type Profile = RunProbes['profile'];

const noTime: SpentMs = { warmUp: 0, turns: 0, scoring: 0, checks: 0, measure: 0 };
const noTokens: EvaluatedTokens = { warmUp: 0, turns: 0, prepared: 0, scoring: 0, checks: 0, measure: 0, unbooked: 0 };

/** Adds up time and evaluated tokens by part of a run; tokens between two parts, over all sessions, are unbooked. */
export class RunClock {
  readonly #engine: Pick<Engine, 'meter'>;
  readonly #embeddings: Pick<EmbeddingService, 'stats'>;
  #spent: SpentMs = noTime;
  #tokens: EvaluatedTokens | null = noTokens;
  /** Evaluated when the last part ended; undefined before the first begins. */
  #booked: number | undefined;
  #taken = { modelMs: 0, embedderMs: 0 };

  constructor(engine: Pick<Engine, 'meter'>, embeddings: Pick<EmbeddingService, 'stats'>) {
    this.#engine = engine;
    this.#embeddings = embeddings;
  }

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

  /** Runs a part; one that fails counts too. @param tokensOf the part that its tokens are booked on */
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

export function withBooks(profile: Profile, { spent, evaluatedTokens, modelMs, embedderMs }: RunBooks): Profile {
  const { spent: before = noTime, evaluatedTokens: tokensBefore = noTokens } = profile;
  return {
    ...profile,
    modelMs: profile.modelMs + modelMs,
    embedderMs: profile.embedderMs + embedderMs,
    spent: added([before, spent]),
    evaluatedTokens: tokensBefore === null || evaluatedTokens === null ? null : added([tokensBefore, evaluatedTokens]),
  };
}
