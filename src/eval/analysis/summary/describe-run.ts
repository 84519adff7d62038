import { basename } from 'node:path';
import type { RunDescription } from '../../../store/records/run-description.ts';
import { parityBound, type RunProbes } from '../../../store/records/run-probes.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { unknownQuality } from '../unknown-quality.ts';

export type EndedRun = RunRecord & { readonly status: RunDescription['status']; readonly probes: RunProbes };

const PATHS = ['dataset', 'dataFile', 'errata', 'kvStore', 'externalKv', 'preRetrieval', 'trace'];

/** The file name of a path, or of each path in a list or an object; other values stay. */
function withoutFolders(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFolders);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, path]) => [name, withoutFolders(path)]));
  }
  return typeof value === 'string' ? basename(value) : value;
}

/** The options with file names for paths, since reports are shared. */
export function shownSettings<Settings extends RunDescription['settings']>(settings: Settings): Settings {
  const shown: RunDescription['settings'] = Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, PATHS.includes(key) ? withoutFolders(value) : value]),
  );
  return shown as Settings;
}

/** The description of a run in its results. @param notes on its turns, which follow the stored notes */
export function describeRun(run: EndedRun, notes: readonly string[]): RunDescription {
  const { schemaVersion: _, plan, probes, ...rest } = run;
  return {
    ...rest,
    startedAt: new Date(run.startedAt).toISOString(),
    finishedAt: run.finishedAt === null ? null : new Date(run.finishedAt).toISOString(),
    retriever: { ...run.retriever, stats: probes.retriever ?? {} },
    unknownQuality: unknownQuality(run.model),
    settings: shownSettings(plan.settings),
    ...(plan.metrics && { metrics: plan.metrics }),
    ...(plan.metricsVersion && { metricsVersion: plan.metricsVersion }),
    armsNotRun: plan.armsNotRun,
    logProbNoise: parityBound(probes.parity),
    profile: probes.profile,
    tokenisation: probes.tokenisation,
    kvStores: probes.kvStores,
    notes: [...probes.notes, ...notes],
    ...(plan.settings.workers !== undefined && { workers: plan.settings.workers }),
    ...(probes.machines && {
      machines: probes.machines.map((machine) => ({ ...machine, users: machine.users.length })),
    }),
  };
}
