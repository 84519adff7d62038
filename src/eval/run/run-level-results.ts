import { availableParallelism, loadavg } from 'node:os';
import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { addCounts } from './workers/add-counts.ts';
import { type PhaseTotals, addBooks } from './phase-times-and-tokens.ts';

export interface ProcessStart {
  readonly coldStartMs: number;
  readonly modelLoadMs: number;
  readonly started: number;
}

export type RunLevelResults = ReturnType<typeof runLevelResults>;

/** Results of a run other than turns: probes, measurements, time and tokens of all workers. Each is stored at once. */
export function runLevelResults(database: BenchDatabase, run: RunRecord, clock: PhaseTotals, start: ProcessStart) {
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
