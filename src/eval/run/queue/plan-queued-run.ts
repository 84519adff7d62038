import { basename } from 'node:path';
import { TemporaryFolder } from '../../../base/temporary-folder.ts';
import type { BenchConfig } from '../../../config/bench-config.ts';
import { shippedDatasetName } from '../../../config/shipped-datasets.ts';
import type { SelectEngine } from '../../../engine/engine-adapter.ts';
import type { QueuedUnit } from '../../../store/queue/job-queue.ts';
import { type QueuedPlan, queuedPlan } from '../../../store/records/run-record.ts';
import { schemaVersion } from '../../../store/records/schema-version.ts';
import { shownSettings } from '../../analysis/summary/describe-run.ts';
import { resolveModelOptions } from '../plan/resolve-model-options.ts';
import { isProbed } from '../prove/isolation-probe.ts';
import { requireDivisible } from '../plan/plan-users.ts';
import { prepareSuite } from '../plan/prepare-suite.ts';
import type { BenchHooks } from '../bench-hooks.ts';
import { newRunRecord } from '../plan/new-run-record.ts';
import { type Suite, suiteOptions } from '../suite.ts';

/** The position of the isolation probe among the units of a queue; users have theirs in the plan. */
export const ISOLATION_POSITION = -1;

/** Settings that no plan holds, even if the environment names them: they concern one machine, or judging. */
export const unplannedSettings: readonly string[] = ['workers', 'shard', 'judge', 'judgeModel', 'kvStore'];

/** Plans a run for a queue: reads data and model, takes no turn. @throws BenchError if the run cannot be divided */
export async function planQueuedRun(
  { suite, name }: { readonly suite: Suite; readonly name: string },
  config: BenchConfig,
  selectEngine: SelectEngine,
  hooks: Pick<BenchHooks, 'signal' | 'onDownload'>,
): Promise<QueuedPlan> {
  const planned = Object.entries(config).filter(([key]) => !unplannedSettings.includes(key));
  const options = suiteOptions(Object.fromEntries(planned) as BenchConfig, suite);
  requireDivisible(options, suite, '--queue');
  const engines = selectEngine(options);
  const settings = await resolveModelOptions(options, engines, { onProgress: hooks.onDownload, signal: hooks.signal });
  using privateFolder = new TemporaryFolder();
  const task = { suite, begun: undefined, folder: privateFolder.path, engines, settings };
  await using prepared = await prepareSuite(task, hooks);
  const run = await newRunRecord(prepared, { name, listsUsers: true });
  const plan = { ...run.plan, settings: shownSettings(run.plan.settings) };
  // Through JSON, so that the plan is exactly what workers will read.
  return queuedPlan.parse(JSON.parse(JSON.stringify({ ...run, schemaVersion, plan })));
}

/** The units of a plan: its users, the first ones with the highest priority, and then the isolation probe. */
export function planUnits({ plan: { arms, users } }: QueuedPlan): QueuedUnit[] {
  const units = users.map((_, position) => ({ position, priority: users.length - position }));
  return arms.some(isProbed) ? [...units, { position: ISOLATION_POSITION, priority: 0 }] : units;
}

/** The data sets of a plan, as `--dataset` takes them: by name if known, else as files in the working folder. */
export function planDatasets({ plan }: QueuedPlan): string[] {
  const { dataset = [] } = plan.settings as { readonly dataset?: readonly string[] };
  return dataset.map((file) => shippedDatasetName(file) ?? (file.includes('.') ? `./${basename(file)}` : file));
}
