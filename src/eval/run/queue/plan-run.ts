import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchConfig } from '../../../config/bench-config.ts';
import type { QueuedUnit } from '../../../store/queue/job-queue.ts';
import type { ComposeEngine } from '../../../engine/engine-request.ts';
import { type QueuedPlan, queuedPlan } from '../../../store/records/queued-plan.ts';
import { schemaVersion } from '../../../store/records/schema-version.ts';
import { shownSettings } from '../../analysis/summary/describe-run.ts';
import { withFetchedModels } from '../fetch-models.ts';
import { prepareSuite } from '../prepared-suite.ts';
import { isProbed } from '../probe-bench.ts';
import { placeOfRun } from '../process-place.ts';
import type { BenchHooks } from '../progress.ts';
import { newRun } from '../run-record.ts';
import { requireDivisible } from '../shard.ts';
import type { Suite } from '../suite.ts';
import { suiteOptions } from '../suite-options.ts';

/** The position of the isolation probe, which is no user's. */
export const ISOLATION = -1;

/**
 * Plans a run for a queue, and asks nothing: data are read and the model is loaded, since both decide which arms and which
 * questions there are.
 * @throws BenchError on bad options, data or models, and for a run that cannot be divided
 */
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
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-plan-'));
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  await using prepared = await prepareSuite(
    { suite, begun: undefined, folder, place: placeOfRun(folder), engines, settings, isMade: false },
    hooks,
  );
  const run = await newRun({ ...prepared, name, config: settings, listsUsers: true });
  const named = { ...run.plan, settings: shownSettings(run.plan.settings) };
  // As whoever reads it will have it.
  return queuedPlan.parse(JSON.parse(JSON.stringify({ ...run, schemaVersion, plan: named })));
}

/** The units of a plan: its users, those first whom it names first, and behind them the isolation probe. */
export function unitsOf({ plan: { arms, users } }: QueuedPlan): QueuedUnit[] {
  const ofUsers = users.map((_, position) => ({ position, priority: users.length - position }));
  return arms.some(isProbed) ? [...ofUsers, { position: ISOLATION, priority: 0 }] : ofUsers;
}
