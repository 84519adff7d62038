import { basename } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import { PrivateFolder } from '../../../base/private-folder.ts';
import { type BenchConfig, benchConfigSchema, promptTextSchema } from '../../../config/bench-config.ts';
import { shippedDatasets } from '../../../config/shipped-datasets.ts';
import type { ComposeEngine } from '../../../engine/engine-adapter.ts';
import type { QueuedUnit } from '../../../store/queue/job-queue.ts';
import { type QueuedPlan, queuedPlan } from '../../../store/records/queue-records.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { schemaVersion } from '../../../store/records/schema-version.ts';
import { shownSettings } from '../../analysis/summary/describe-run.ts';
import { withFetchedModels } from '../plan/fetch-models.ts';
import { isProbed } from '../prove/isolation-probe.ts';
import { keptOptions } from '../plan/option-resume-rules.ts';
import { requireDivisible } from '../plan/plan-users.ts';
import { prepareSuite } from '../plan/prepared-suite.ts';
import type { BenchHooks } from '../bench-hooks.ts';
import { newRun } from '../plan/new-run.ts';
import { resumedConfig } from '../plan/resumable-run.ts';
import { type Suite, suiteOptions } from '../suite.ts';

/** The position of the isolation probe among the units of a queue; users have theirs in the plan. */
export const ISOLATION_POSITION = -1;

/** Settings that a worker has of its own: they name paths of its machine, or its user's consent. */
const OWN_SETTINGS = ['dataset', 'dataFile', 'errata', 'allowRemote'] as const;
const REFUSED_SETTINGS = ['workers', 'shard', 'judge', 'judgeModel', 'kvStore'];

/** Plans a run for a queue: reads data and model, takes no turn. @throws BenchError if the run cannot be divided */
export async function planRun(
  { suite, name }: { readonly suite: Suite; readonly name: string },
  config: BenchConfig,
  compose: ComposeEngine,
  hooks: Pick<BenchHooks, 'signal' | 'onDownload'>,
): Promise<QueuedPlan> {
  const options = suiteOptions(config, suite);
  requireDivisible(options, suite, '--queue');
  const engines = compose(options);
  const settings = await withFetchedModels(options, engines, { onProgress: hooks.onDownload, signal: hooks.signal });
  using privateFolder = new PrivateFolder();
  const folder = privateFolder.path;
  const place = { folder, suffix: '' };
  await using prepared = await prepareSuite(
    { suite, begun: undefined, folder, place, engines, settings, isMade: false },
    hooks,
  );
  const run = await newRun(prepared, { name, listsUsers: true });
  const plan = { ...run.plan, settings: shownSettings(run.plan.settings) };
  // Through JSON, as its readers will get it.
  return queuedPlan.parse(JSON.parse(JSON.stringify({ ...run, schemaVersion, plan })));
}

/** The units of a plan: its users, the first ones with the highest priority, and then the isolation probe. */
export function unitsOf({ plan: { arms, users } }: QueuedPlan): QueuedUnit[] {
  const units = users.map((_, position) => ({ position, priority: users.length - position }));
  return arms.some(isProbed) ? [...units, { position: ISOLATION_POSITION, priority: 0 }] : units;
}

/** The data sets of a plan as `--dataset` takes them: by name if they are known, else as files of the working folder. */
export function datasetsOf({ plan }: QueuedPlan): string[] {
  const { dataset = [] } = plan.settings as { readonly dataset?: readonly string[] };
  return dataset.map((file) => {
    const name = basename(file, '.jsonl');
    return shippedDatasets().has(name) ? name : file.includes('.') ? `./${basename(file)}` : file;
  });
}

/** A worker's options: the plan's, with the paths of its machine. @throws BenchError `bad-option`, `database` */
export function workerSettings(own: BenchConfig, run: RunRecord): BenchConfig {
  requireKnownSettings(run);
  const { threads } = run.environment;
  const { dataFile: _, errata: __, allowRemote: ___, ...settings } = resumedConfig(own, run);
  return {
    ...settings,
    ...Object.fromEntries(OWN_SETTINGS.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]))),
    // A server has its own.
    ...(threads === 0 ? {} : { threads }),
  };
}

/** A plan comes from a server that others write to. */
function requireKnownSettings({ name, plan }: RunRecord): void {
  const isKnown = (key: (typeof keptOptions)[number], value: unknown): boolean => {
    if (key === 'given') return typeof value === 'string';
    const isText = key === 'systemPrompt' || key === 'generalAnswerPrefix' || key === 'memoryHeader';
    return (isText ? promptTextSchema : benchConfigSchema.shape[key]).safeParse(value).success;
  };
  for (const key of keptOptions) {
    const value: unknown = (plan.settings as Readonly<Record<string, unknown>>)[key];
    if (value === undefined || (isKnown(key, value) && !REFUSED_SETTINGS.includes(key))) continue;
    throw new BenchError(
      'database',
      `run "${name}": this program does not take the plan's setting ${key}`,
      'plan it again with the version of the workers',
    );
  }
}
