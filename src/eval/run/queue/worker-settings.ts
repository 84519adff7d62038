import { BenchError } from '../../../base/bench-error.ts';
import { type BenchConfig, benchConfigSchema, promptTextSchema } from '../../../config/bench-config.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { fixedOptions } from '../plan/option-resume-rules.ts';
import { resumedConfig } from '../plan/resumable-run.ts';

/** Settings that a worker takes from its own options: paths on its machine, and its user's consent. */
const OWN_SETTINGS = ['dataset', 'dataFile', 'errata', 'allowRemote'] as const;
const REFUSED_SETTINGS = ['workers', 'shard', 'judge', 'judgeModel', 'kvStore'];

/** A worker's options: the plan's, with the paths of its machine. @throws BenchError `bad-option`, `database` */
export function workerSettings(own: BenchConfig, run: RunRecord): BenchConfig {
  requireKnownSettings(run);
  const { threads } = run.environment;
  const { dataFile: _, errata: __, allowRemote: ___, ...settings } = resumedConfig(own, run);
  return {
    ...settings,
    ...Object.fromEntries(OWN_SETTINGS.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]))),
    // A model server chooses its own number of threads.
    ...(threads === 0 ? {} : { threads }),
  };
}

/** Validates the plan's settings: they come from a server that others can write to. */
function requireKnownSettings({ name, plan }: RunRecord): void {
  const isKnown = (key: (typeof fixedOptions)[number], value: unknown): boolean => {
    if (key === 'given') return typeof value === 'string';
    const isText = key === 'systemPrompt' || key === 'generalAnswerPrefix' || key === 'memoryHeader';
    return (isText ? promptTextSchema : benchConfigSchema.shape[key]).safeParse(value).success;
  };
  for (const key of fixedOptions) {
    const value: unknown = (plan.settings as Readonly<Record<string, unknown>>)[key];
    if (value === undefined || (isKnown(key, value) && !REFUSED_SETTINGS.includes(key))) continue;
    const message = `run "${name}": this program does not take the plan's setting ${key}`;
    throw new BenchError('database', message, 'plan it again with the version of the workers');
  }
}
