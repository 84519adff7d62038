import { basename } from 'node:path';
import { type BenchConfig, benchConfigSchema } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { shippedDatasets } from '../../../config/shipped-datasets.ts';
import { systemPromptSchema } from '../../../config/system-prompt.ts';
import type { QueuedPlan } from '../../../store/records/queued-plan.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { keptOptions } from '../option-effects.ts';
import { resumedConfig } from '../run-record.ts';

/** Settings of a plan that are the worker's own, since they name places of its machine, or its user's consent. */
const OWN = ['dataset', 'dataFile', 'errata', 'allowRemote'] as const;
/** Settings that no plan has: a queue divides no run with them. */
const NONE = ['workers', 'shard', 'judge', 'judgeModel', 'kvStore'];

/** The data sets of a plan, as `--dataset` takes them: by name where they are known, else as files of the working folder. */
export function datasetsOf({ plan }: QueuedPlan): string[] {
  const { dataset = [] } = plan.settings as { readonly dataset?: readonly string[] };
  return dataset.map((file) => {
    const name = basename(file, '.jsonl');
    return shippedDatasets().has(name) ? name : file.includes('.') ? `./${basename(file)}` : file;
  });
}

/**
 * The options of a worker: what turns depend on from the plan, and from its own command where things are on its machine.
 * @throws BenchError `bad-option` for a model that neither has; `database` for a plan with settings that this program does
 * not take
 */
export function settingsOfWorker(own: BenchConfig, run: RunRecord): BenchConfig {
  requireKnownSettings(run);
  const { threads } = run.environment;
  const { dataFile: _, errata: __, allowRemote: ___, ...settings } = resumedConfig(own, run);
  return {
    ...settings,
    ...Object.fromEntries(OWN.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]))),
    // A server's are its own.
    ...(threads === 0 ? {} : { threads }),
  };
}

/** A plan comes from a server that others write to. */
function requireKnownSettings({ name, plan }: RunRecord): void {
  for (const key of keptOptions) {
    const value: unknown = (plan.settings as Readonly<Record<string, unknown>>)[key];
    if (value === undefined) continue;
    const schema =
      key === 'systemPrompt'
        ? systemPromptSchema
        : key === 'generalAnswerPrefix' || key === 'given'
          ? undefined
          : benchConfigSchema.shape[key];
    const isKnown = schema === undefined ? typeof value === 'string' : schema.safeParse(value).success;
    if (isKnown && !NONE.includes(key)) continue;
    throw new BenchError(
      'database',
      `run "${name}": this program does not take the plan's setting ${key}`,
      'plan it again with the version of the workers',
    );
  }
}
