import { join } from 'node:path';
import type { BenchConfig } from '../../../config/bench-config.ts';
import { BenchError, didYouMean } from '../../../base/bench-error.ts';
import { type RunDatasets, readRunDatasets } from '../../../data/join-datasets.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import { writeText } from '../../../data/write-lines.ts';
import { countTokens, type Engine } from '../../../engine/engine.ts';
import type { EngineInspection, EngineOpener } from '../../../engine/engine-adapter.ts';
import {
  type GatingCalibration,
  readGatingCalibration,
  requireCalibrationFor,
} from '../../../models/embedding/gating-calibration.ts';
import type { ArmNotRun } from '../../../store/records/run-description.ts';
import type { PlannedContrast } from '../../../store/records/planned-contrast.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { type Arm, armRegistry } from '../../../systems/arms/arm-registry.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../../../systems/prefill/dual-factor-gate.ts';
import { registeredMetrics, requireContrastMetric, requirePrimary } from '../../analysis/metrics/metric-selection.ts';
import { suiteArms, armsWithWorkingTemplate, requireMeasurable, runnableArms } from './runnable-arms.ts';
import { type LoadedModels, loadModels } from '../loaded-models.ts';
import { promptRules } from '../system-parts-from-options.ts';
import { requireFittingQueries, requireFittingSinks } from './require-fitting-prompts.ts';
import { KvFolder } from '../kv-folder.ts';
import { shardUsers } from '../../analysis/planned-sample.ts';
import { drawUsers } from './plan-users.ts';
import type { BenchHooks } from '../bench-hooks.ts';
import { requireSameInputs } from './resume-run.ts';
import type { Suite } from '../suite.ts';
import { withoutIdleWorkers } from '../workers/number-of-workers.ts';

/** Folder of a process for KV and the retriever, and a suffix for its names in shared stores. */
interface Place {
  readonly folder: string;
  readonly suffix: string;
}

interface SuiteToPrepare {
  readonly suite: Suite;
  readonly begun: RunRecord | undefined;
  readonly folder: string;
  /** Of a worker, which finds the suite's data generated. Default: the folder of the run. */
  readonly place?: Place;
  readonly engines: EngineOpener;
  readonly settings: BenchConfig;
}

/** A suite that is ready to run: data, loaded models, and the settings that follow from them. Nothing is stored yet. */
export interface PreparedSuite extends SuiteToPrepare, AsyncDisposable {
  readonly place: Place;
  readonly arms: readonly Arm[];
  readonly armsNotRun: readonly ArmNotRun[];
  readonly stores: KvFolder;
  readonly parts: LoadedModels;
  readonly dataset: RunDatasets;
  readonly users: readonly DatasetUser[];
  /** Gate calibration of the embedder. Null: no arm has a gate. Undefined: an arm has one, the embedder none. */
  readonly calibration: GatingCalibration | null | undefined;
}

/** Plans arms and users, opens models and stores, and validates the data against them. @throws BenchError */
export async function prepareSuite(task: SuiteToPrepare, hooks: BenchHooks): Promise<PreparedSuite> {
  const inspection = await task.engines.inspect(task.settings.model, task.settings.contextTokens);
  const plan = planArms(task, inspection, hooks);
  // Data files are read before the models are loaded, so that mistakes in them show at once.
  const given = task.suite.data === undefined ? await readRunDatasets(task.settings) : undefined;
  const drawn = given === undefined ? undefined : drawUsers(given, task.settings);
  const loaded = (done: number): void => hooks.onProgress?.({ phase: 'load', done, total: 3 });
  loaded(1);
  // A resumed run keeps its number of workers.
  const drawnUsers = drawn && task.begun === undefined ? shardUsers(drawn, task.settings).length : undefined;
  const settings = drawnUsers === undefined ? task.settings : withoutIdleWorkers(task.settings, drawnUsers);
  const { place = { folder: task.folder, suffix: '' } } = task;
  const stores = new KvFolder(settings, place.folder);
  let parts: LoadedModels | undefined;
  const dispose = async (): Promise<void> => {
    await parts?.engine[Symbol.asyncDispose]();
    stores[Symbol.dispose]();
  };
  try {
    const { arms: planned, usesSuiteArms } = plan;
    const needs = { ...task.suite, arms: planned, checkpointFolder: stores.checkpointFolder };
    parts = await loadModels(task.engines, settings, needs, hooks);
    loaded(2);
    const { arms, notRun } = await armsWithWorkingTemplate(planned, parts.engine, settings, usesSuiteArms);
    const dataset = given ?? (await generatedData({ ...task, settings }, parts.engine));
    const users = drawn ?? drawUsers(dataset, settings);
    const calibration = arms.some((arm) => arm.gated) ? plan.calibration : null;
    const armsNotRun = usesSuiteArms ? [...plan.notRun, ...notRun] : [];
    const prepared = { ...task, place, settings, arms, armsNotRun, stores, parts, dataset, users, calibration };
    await validate(prepared);
    loaded(3);
    return { ...prepared, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function planArms({ suite, begun, settings }: SuiteToPrepare, inspection: EngineInspection, hooks: BenchHooks) {
  const calibration = readGatingCalibration(settings.embedder);
  const bySuite = suiteArms(suite, inspection, settings);
  const named = begun?.plan.arms.map((arm) => arm.name) ?? settings.arms;
  const usesSuiteArms = named === undefined;
  const wanted = armRegistry.with(...(hooks.arms ?? [])).named(named ?? bySuite.names, {
    alpha: settings.alpha,
    gatingThreshold: calibration?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD,
  });
  requireMeasurable(settings.model, inspection, suite);
  const { arms, notRun } = runnableArms(inspection, wanted, settings, usesSuiteArms);
  return { arms, notRun: [...bySuite.notRun, ...notRun], usesSuiteArms, calibration };
}

async function generatedData(
  { suite: { data = [] }, folder, settings: { seed }, place }: SuiteToPrepare,
  engine: Engine,
): Promise<RunDatasets> {
  const files = data.map(({ name }) => join(folder, `${name}.jsonl`));
  const { contextTokens } = engine.info;
  const window = { contextTokens, countTokens: (texts: readonly string[]) => countTokens(engine, texts) };
  for (const [index, { presetUsers, make }] of place === undefined ? data.entries() : []) {
    await writeText(files[index]!, await make(seed, presetUsers, window));
  }
  return await readRunDatasets({ dataset: files });
}

/** Checks data and arms against the loaded models. @throws BenchError for the first that does not fit */
async function validate(prepared: Omit<PreparedSuite, typeof Symbol.asyncDispose>): Promise<void> {
  const { begun, settings, arms, dataset, users, parts, calibration } = prepared;
  for (const { name, declared } of dataset.parts) {
    const { primaryMetric, plannedContrast } = declared;
    if (primaryMetric !== undefined) requirePrimary(primaryMetric, registeredMetrics(), name);
    if (plannedContrast === undefined) continue;
    requireContrastMetric(plannedContrast.metric, registeredMetrics(), name);
    requireContrastArms(plannedContrast, arms, name);
  }
  const asking = { engine: parts.engine, rules: promptRules(settings) };
  await requireFittingQueries(users, dataset, arms, asking);
  await requireFittingSinks(users, arms, asking);
  if (begun !== undefined) await requireSameInputs(begun, settings, dataset, parts);
  if (calibration) requireCalibrationFor(calibration, await parts.embeddings.info());
}

/** Checks that the arms of a planned contrast exist; the run need not have them. @throws BenchError `bad-data` */
function requireContrastArms({ arm, reference }: PlannedContrast, arms: readonly Arm[], place: string): void {
  for (const [field, name] of Object.entries({ arm, reference })) {
    if (armRegistry.has(name) || arms.some(({ traits }) => traits.name === name)) continue;
    const message = `${place}: plannedContrast.${field} ${JSON.stringify(name)} is no arm${didYouMean(name, armRegistry.names)}`;
    throw new BenchError('bad-data', message, 'dki-bench list arms shows them all');
  }
}
