import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { type AskedData, readAskedData } from '../../data/asked-data.ts';
import type { DatasetUser } from '../../data/dataset.ts';
import type { DatasetGenerator } from '../../data/generators/dataset-generator.ts';
import { writeText } from '../../data/write-lines.ts';
import {
  gatingCalibrationOf,
  requireCalibrationFor,
  type GatingCalibration,
} from '../../models/embedding/gating-threshold.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineOpener } from '../../engine/engine-request.ts';
import type { ArmNotRun } from '../../store/records/results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { type Arm, armRegistry } from '../../systems/arms/arm-registry.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../../systems/prefill/dual-factor-gate.ts';
import { registeredMetrics } from '../analysis/metrics/registered-metrics.ts';
import { requirePrimary } from '../analysis/metrics/run-metrics.ts';
import { armsOfSuite, armsWithForms, requireMeasurable, runnableArms } from './arm-obstacles.ts';
import { BenchParts, promptRules } from './bench-parts.ts';
import { drawUsers } from './draw-users.ts';
import { requireFittingQueries } from './fitting-queries.ts';
import { requireFittingSinks } from './fitting-sinks.ts';
import { KvFolder } from './kv-folder.ts';
import type { ProcessPlace } from './process-place.ts';
import type { BenchHooks } from './progress.ts';
import { checkSame } from './run-record.ts';
import { usersOfShard } from './shard.ts';
import type { Suite } from './suite.ts';
import { withoutIdleWorkers } from './workers-of-run.ts';

/** A suite, and the run that is made of it. */
export interface SuiteToPrepare {
  readonly suite: Suite;
  /** The run to work on, where it was begun before. */
  readonly begun: RunRecord | undefined;
  /** Of the run's report. */
  readonly folder: string;
  readonly place: ProcessPlace;
  readonly engines: EngineOpener;
  /** As they are in force: models are there. */
  readonly settings: BenchConfig;
  /** Data that the suite makes for itself lie in the folder already. */
  readonly isMade: boolean;
}

/** All that a process needs of a suite before it writes anything: data that were read, models that are loaded, the settings that they leave. */
export interface PreparedSuite extends SuiteToPrepare, AsyncDisposable {
  readonly arms: readonly Arm[];
  readonly armsNotRun: readonly ArmNotRun[];
  readonly stores: KvFolder;
  readonly parts: BenchParts;
  readonly dataset: AskedData;
  /** Those who were drawn. */
  readonly users: readonly DatasetUser[];
  /** Of the embedder, where an arm has a gate; null without such an arm. */
  readonly calibration: GatingCalibration | null | undefined;
}

/** Prepares a suite, or the part of a process in it. @throws BenchError on bad options, data or models */
export async function prepareSuite(
  asked: SuiteToPrepare,
  hooks: Pick<BenchHooks, 'arms' | 'signal'>,
): Promise<PreparedSuite> {
  const { suite, begun, folder, place, engines, settings: options, isMade } = asked;
  const calibration = gatingCalibrationOf(options.embedder);
  const inspection = await engines.inspect(options.model);
  const ofSuite = armsOfSuite(suite, inspection, options);
  const named = begun?.plan.arms.map((arm) => arm.name) ?? options.arms;
  const wanted = armRegistry.with(...(hooks.arms ?? [])).named(named ?? ofSuite.names, {
    alpha: options.alpha,
    gatingThreshold: calibration?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD,
  });
  requireMeasurable(options.model, inspection, suite);
  const runnable = runnableArms(options.model, inspection, wanted, options, named === undefined);
  // Data that are given are read before the heavy parts are opened: a mistake in them is found at once.
  const given = suite.data === undefined ? await readAskedData(options) : undefined;
  const drawn = given === undefined ? undefined : drawUsers(given, options);
  // A run that goes on has the workers with which it began.
  const isOpen = drawn !== undefined && begun === undefined;
  const settings = isOpen ? withoutIdleWorkers(options, usersOfShard(drawn, options).length) : options;
  const stores = new KvFolder(settings, place.folder);
  let parts: BenchParts | undefined;
  const dispose = async (): Promise<void> => {
    await parts?.[Symbol.asyncDispose]();
    stores[Symbol.dispose]();
  };
  try {
    parts = await BenchParts.open(engines, settings, suite, runnable.arms, stores.checkpointFolder, hooks);
    const { arms, notRun } = await armsWithForms(runnable.arms, parts.engine, settings, named === undefined);
    const made = suite.data === undefined ? undefined : filesOf(suite.data, folder);
    if (made !== undefined && !isMade) await makeData(suite.data!, made, settings, parts.engine);
    const dataset = given ?? (await readAskedData({ dataset: made! }));
    requirePrimaries(suite, dataset);
    const users = drawn ?? drawUsers(dataset, settings);
    const asking = { engine: parts.engine, rules: promptRules(settings) };
    await requireFittingQueries(users, dataset, arms, asking);
    await requireFittingSinks(users, arms, asking);
    if (begun !== undefined) await checkSame(begun, settings, dataset, parts);
    const gated = arms.some((arm) => arm.gated);
    if (gated && calibration !== undefined) requireCalibrationFor(calibration, await parts.embeddings.info());
    return {
      ...asked,
      ...{ settings, arms, stores, parts, dataset, users },
      calibration: gated ? calibration : null,
      armsNotRun: named === undefined ? [...ofSuite.notRun, ...runnable.notRun, ...notRun] : [],
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** @throws BenchError `bad-data` where the suite, or a data set, names a metric that there is not */
function requirePrimaries({ name, primaryMetric }: Suite, { parts }: AskedData): void {
  const named = [
    { place: `suite ${name}`, primaryMetric },
    ...parts.map((part) => ({ place: part.name, primaryMetric: part.declared.primaryMetric })),
  ];
  for (const one of named) {
    if (one.primaryMetric !== undefined) requirePrimary(one.primaryMetric, registeredMetrics(), one.place);
  }
}

/** Of the data of a suite that makes its own, beside its report. */
function filesOf(data: readonly DatasetGenerator[], folder: string): string[] {
  return data.map(({ name }) => join(folder, `${name}.jsonl`));
}

async function makeData(
  data: readonly DatasetGenerator[],
  files: readonly string[],
  { seed }: BenchConfig,
  engine: Engine,
): Promise<void> {
  const window = {
    contextTokens: engine.info.contextTokens,
    countTokens: async (texts: readonly string[]): Promise<readonly number[]> =>
      (await engine.tokenize(texts.map((text) => ({ text, as: 'text' })))).map((ids) => ids.length),
  };
  for (const [index, { presetUsers, make }] of data.entries()) {
    await writeText(files[index]!, await make(seed, presetUsers, window));
  }
}
