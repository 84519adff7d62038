import { basename } from 'node:path';
import { type BenchConfig, engineOptionNames, randomModelPrefix } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { resolveModel } from '../../../models/resolve-name.ts';
import { languageModelWithHash } from '../../../models/registry.ts';
import type { NewRun, RunRepository } from '../../../store/run-repository.ts';
import type { EngineInfo } from '../../../engine/engine-info.ts';
import type { RunPlan, RunRecord } from '../../../store/records/run-record.ts';
import { tierAddresses } from '../../../retrieval/tiered/open-tiered.ts';
import type { RunDatasets } from '../../../data/run-datasets.ts';
import { lastRunsHint } from '../../../store/run-name.ts';
import { declarationOf } from '../../analysis/metrics/registered-metrics.ts';
import { describeData } from './describe-data.ts';
import { describeEnvironment } from './environment.ts';
import type { BenchParts } from '../bench-parts.ts';
import { keptOptions } from './option-effects.ts';
import { ownMetrics } from '../own-metrics.ts';
import { planUsers } from './plan-users.ts';
import type { ArmNotRun } from '../../../store/records/run-description.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';

function decisive(config: Partial<BenchConfig>): Partial<BenchConfig> {
  return Object.fromEntries(keptOptions.filter((key) => key in config).map((key) => [key, config[key]]));
}

/** The options with which a run goes on: those that it began with, and of the new ones those that no turn depends on. */
export function resumedConfig(config: BenchConfig, run: RunRecord): BenchConfig {
  const { name, plan } = run;
  const open = Object.entries(config).filter(([key]) => !(keptOptions as readonly string[]).includes(key));
  const begun = decisive(plan.settings as unknown as BenchConfig);
  if (config.judge !== undefined && begun.judge === undefined) {
    throw new BenchError(
      'bad-option',
      `--resume ${name}: the run asks no judge`,
      'drop --judge, or start a new run with it',
    );
  }
  // Its server may have moved: no verdict depends on where it answers.
  const moved = config.judge === undefined ? {} : { judge: config.judge };
  const model = modelToOpen({ ...config, ...begun }, run);
  // Every run has a value of each engine's own options, given or not: another engine would refuse them.
  const ofRun = Object.keys(begun).filter((key) => !(engineOptionNames as readonly string[]).includes(key));
  const given = [...config.given, ...ofRun, ...(model === undefined ? [] : ['model'])];
  const own = model === undefined ? {} : { model };
  return { ...(Object.fromEntries(open) as unknown as BenchConfig), ...begun, ...moved, ...own, given };
}

/**
 * The model that a run opens again where the command names none; undefined where the command names one, and where a server
 * has it.
 * @throws BenchError `bad-option` for a file of the user's, whose place no run keeps
 */
function modelToOpen({ engine, given }: BenchConfig, { name, model, plan }: RunRecord): string | undefined {
  if (given.includes('model') || engine !== 'llama-cpp') return undefined;
  const known = languageModelWithHash(model.sha256);
  if (known !== undefined) return resolveModel(known.name, process.cwd());
  const file = plan.settings['model'];
  if (typeof file !== 'string') return undefined;
  if (file.startsWith(randomModelPrefix)) return file;
  throw new BenchError('bad-option', `run "${name}": its model is the file ${file}`, 'name it: --model FILE');
}

/** The run to go on with. @throws BenchError `not-found`, or `bad-option` for one that is finished */
export function findResumable(runs: RunRepository, name: string): RunRecord {
  const run = runs.findByName(name);
  if (run === undefined) {
    throw noSuchRun(name, runs.names());
  }
  if (run.status === 'finished') {
    throw new BenchError(
      'bad-option',
      `--resume ${name}: the run is finished`,
      `see it: npm run tables -- --run ${name}`,
    );
  }
  return run;
}

/** @param known names of the runs that there are */
export function noSuchRun(name: string, known: readonly string[]): BenchError {
  return new BenchError(
    'not-found',
    `--resume ${name}: there is no such run`,
    lastRunsHint(known, 'start one: npm run bench'),
  );
}

/** How runs call a model: by its name in the registry, with which it can be opened again, else by its own. */
function nameOfModel({ modelSha256, model }: EngineInfo): string {
  return languageModelWithHash(modelSha256 ?? '')?.name ?? model.name;
}

function sizeOf({ name, parameters }: { readonly name: string; readonly parameters: number | null }): string {
  return `${name}, ${parameters} parameters`;
}

/** The device that turns depend on; free memory changes from day to day. */
function placeOf(compute: RunRecord['environment']['compute']): unknown {
  return compute === null || compute === undefined ? undefined : { ...compute, memoryBytes: undefined };
}

/** The stores of memories, for the strategy that has a choice. */
function tiersOf(config: BenchConfig): ReturnType<typeof tierAddresses> | undefined {
  return config.retriever === 'tiered' ? tierAddresses(config) : undefined;
}

/** The preparation of questions, for the strategy that does it. */
function preRetrievalOf(config: BenchConfig, parts: BenchParts): BenchParts['preRetrieval']['config'] | undefined {
  return config.retriever === 'hinted' ? parts.preRetrieval.config : undefined;
}

/** A run goes on only with the data, the models and the index that it began with. @throws BenchError `bad-option` */
export async function checkSame(
  run: RunRecord,
  config: BenchConfig,
  dataset: RunDatasets,
  parts: BenchParts,
): Promise<void> {
  const { info } = parts.engine;
  const embedder = await parts.embeddings.info();
  const { backend } = parts.backend;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['data set', run.dataset.sha256, dataset.sha256],
    ['model', run.model.sha256, info.modelSha256 ?? ''],
    // A server that shows no file of its model may have been given another one.
    ['model', sizeOf(run.model), sizeOf({ ...info.model, name: nameOfModel(info) })],
    ['context window', run.model.contextTokens, info.contextTokens],
    ['embedder', run.embedder.sha256, embedder.sha256],
    ["embedder's runtime", run.embedder.runtime ?? embedder.runtime, embedder.runtime],
    ['number of threads', run.environment.threads, info.threads ?? 0],
    ['device', JSON.stringify(placeOf(run.environment.compute)), JSON.stringify(placeOf(info.compute))],
    ['vector backend', run.retriever.backend, backend.name],
    ['place of memories', JSON.stringify(run.retriever.tiers), JSON.stringify(tiersOf(config))],
    [
      'list of registered metrics',
      JSON.stringify(run.plan.metrics ?? []),
      JSON.stringify(ownMetrics(config).map(declarationOf)),
    ],
    [
      'preparation of questions',
      JSON.stringify(run.retriever.preRetrieval),
      JSON.stringify(preRetrievalOf(config, parts)),
    ],
  ];
  const changed = pairs.find(([, before, now]) => before !== now)?.[0];
  if (changed === undefined) return;
  throw new BenchError(
    'bad-option',
    `run "${run.name}": the ${changed} is not the one that the run began with`,
    `give the same ${changed}, or start a new run`,
  );
}

/** The machine and the build that compute turns. */
export function currentEnvironment({ engine: { info } }: Pick<BenchParts, 'engine'>): RunRecord['environment'] {
  return {
    ...describeEnvironment(),
    engine: info.engine,
    build: info.build,
    threads: info.threads ?? 0,
    compute: info.compute,
    stateIdentity: info.stateIdentity,
  };
}

/** What a run begins with. */
interface RunStart {
  readonly suite: { readonly name: string; readonly primaryMetric?: string };
  readonly settings: BenchConfig;
  readonly arms: readonly Arm[];
  readonly armsNotRun: readonly ArmNotRun[];
  readonly dataset: RunDatasets;
  readonly users: readonly DatasetUser[];
  readonly parts: BenchParts;
}

/**
 * The record of a new run, with everything that is needed to repeat it.
 * @param listsUsers the plan lists its users, because the run is divided
 */
export async function newRun(
  { suite, settings: config, arms, armsNotRun, dataset, users, parts }: RunStart,
  { name, listsUsers }: { readonly name: string; readonly listsUsers: boolean },
): Promise<NewRun> {
  const { info } = parts.engine;
  const { backend } = parts.backend;
  const embedder = await parts.embeddings.info();
  const tiers = tiersOf(config);
  const preRetrieval = preRetrievalOf(config, parts);
  const metrics = ownMetrics(config);
  const { workers, ...kept } = decisive(config);
  const traits = arms.map((arm) => arm.traits);
  const planned = planUsers(users, traits, config.repeats).map(({ userId, turns }) => ({ userId, turns }));
  const plan: RunPlan = {
    arms: traits,
    armsNotRun,
    ...(listsUsers ? { users: planned } : {}),
    ...(metrics.length === 0 ? {} : { metrics: metrics.map(declarationOf) }),
    settings: {
      ...kept,
      ...(typeof workers === 'number' ? { workers } : {}),
      ...{ suite: config.suite, margin: config.margin, model: basename(config.model) },
    },
  };
  return {
    name,
    suite: suite.name,
    seed: config.seed,
    plan,
    environment: currentEnvironment(parts),
    model: {
      name: nameOfModel(info),
      sha256: info.modelSha256 ?? '',
      parameters: info.model.parameters,
      contextTokens: info.contextTokens,
      cellTokens: info.cellTokens,
    },
    embedder: { name: embedder.name, sha256: embedder.sha256, runtime: embedder.runtime },
    dataset: {
      ...describeData(dataset, users),
      ...(suite.primaryMetric === undefined ? {} : { primaryMetric: suite.primaryMetric }),
    },
    retriever: {
      name: config.retriever,
      backend: backend.name,
      version: backend.version,
      ...(tiers === undefined ? {} : { tiers }),
      ...(preRetrieval === undefined ? {} : { preRetrieval }),
    },
  };
}
