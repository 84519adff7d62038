import type { BenchConfig } from '../../config/bench-config.ts';
import { SessionRepository } from '../../store/session-repository.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { IsolationProbe } from '../../store/records/run-probes.ts';
import { isolationSessions, probeAskers, probeIsolation } from './isolation-probe.ts';
import type { RunBench } from './user-run.ts';

/** True for an arm that is given the user's own memories, as they were retrieved: it could be given another's. */
export function isProbed({ retrieves, control }: Pick<ArmTraits, 'retrieves' | 'control'>): boolean {
  return retrieves === 'retrieved' && control === null;
}

/** The isolation probe of the arms of a run, as they are open; null where none is given memories that were retrieved. */
export async function probeBench(
  { arms, database, engine, keeper, runId, users }: RunBench,
  { topK, threshold, seed }: Pick<BenchConfig, 'topK' | 'threshold' | 'seed'>,
  signal: AbortSignal,
): Promise<IsolationProbe | null> {
  const systems = arms
    .filter(({ arm }) => isProbed(arm.traits))
    .map(({ arm, system, reopen }) => ({ traits: arm.traits, system, reopen }));
  if (systems.length === 0) return null;
  const questions = users.reduce((sum, { items }) => sum + items.length, 0);
  const subject = { runId, engine, keeper, systems, topK, threshold };
  // Of a probe that was interrupted.
  new SessionRepository(database).deleteBeginningWith(isolationSessions(runId));
  const probe = (): Promise<IsolationProbe> =>
    probeIsolation(subject, seed, { askers: probeAskers(questions), signal });
  return await arms.reduce(
    (work, { recorder }) =>
      () =>
        recorder.declared(work),
    probe,
  )();
}
