import { availableParallelism, loadavg } from 'node:os';
import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { WorkerCounts } from '../../store/records/worker-result-bundle.ts';
import { addCounts } from './workers/add-counts.ts';
import { type PhaseTotals, addBooks } from './phase-times-and-tokens.ts';

export interface ProcessStart {
  readonly coldStartMs: number;
  readonly modelLoadMs: number;
  readonly started: number;
}

/** Results of a run other than turns: probes, measurements, time and tokens of all workers. Each is stored at once. */
export class RunLevelResults {
  readonly #database: BenchDatabase;
  readonly #runs: RunRepository;
  readonly #users: UserClaimRepository;
  readonly #runId: string;
  readonly #clock: PhaseTotals;
  readonly #start: ProcessStart;
  #counts: ReadonlyMap<string, WorkerCounts> = new Map();
  readonly #wallMsBefore: number;
  #profile: RunProbes['profile'];
  #probes: RunProbes | null;

  constructor(database: BenchDatabase, run: RunRecord, clock: PhaseTotals, start: ProcessStart) {
    this.#database = database;
    this.#runs = new RunRepository(database);
    this.#users = new UserClaimRepository(database, run.id);
    this.#runId = run.id;
    this.#clock = clock;
    this.#start = start;
    this.#probes = run.probes;
    const spent = run.probes?.profile ?? { wallMs: 0, modelMs: 0, embedderMs: 0, coldStartMs: start.coldStartMs };
    this.#profile = { ...spent, modelMs: spent.modelMs + start.modelLoadMs };
    this.#wallMsBefore = spent.wallMs;
  }

  /** Null until the self-tests have run. */
  get probes(): RunProbes | null {
    return this.#probes;
  }

  async begin(tests: Omit<RunProbes, 'profile' | 'kvStores' | 'isolation' | 'measured'>): Promise<void> {
    this.#probes = { ...tests, profile: this.#profile, kvStores: {}, isolation: null, measured: null };
    await this.save({});
  }

  /** Stores a change, with the time and tokens of this process and of the users that workers have finished. */
  async save(change: Partial<Omit<RunProbes, 'profile'>>): Promise<void> {
    this.#profile = addBooks(this.#profile, await this.#clock.take());
    const saved = this.#database.transaction(() => {
      const shares = this.#users.takeShares();
      const counts = new Map([...this.#counts, ...shares.map(({ worker, share }) => [worker, share.counts] as const)]);
      const profile = shares.reduce((sum, { share }) => addBooks(sum, share.books), this.#profile);
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

/** The highest load of the machine so far, for the check of clocks. @param before the highest until now */
export function machineLoad(before: RunProbes['load']): NonNullable<RunProbes['load']> {
  const [average = 0] = loadavg();
  return { cores: availableParallelism(), average: Math.max(before?.average ?? 0, average) };
}
