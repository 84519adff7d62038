import { basename } from 'node:path';
import type { BenchConfig } from '../../../config/bench-config.ts';
import type { RunDatasets } from '../../../data/join-datasets.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import type { EngineInfo } from '../../../engine/engine-info.ts';
import { languageModelWithHash, shippedPath } from '../../../models/model-registry.ts';
import { tierAddresses } from '../../../retrieval/tiered/open-tiered-retriever.ts';
import type { ArmNotRun } from '../../../store/records/run-description.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { NewRun } from '../../../store/run-repository.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';
import { metricsVersion } from '../../analysis/metrics/metrics-version.ts';
import { toDeclaration, additionalMetrics } from '../../analysis/metrics/registered-metrics.ts';
import type { LoadedModels } from '../loaded-models.ts';
import { drawControlItems } from './control-items.ts';
import { describeData } from './describe-data.ts';
import { describeEnvironment } from './describe-environment.ts';
import { decisiveOptions } from './option-resume-rules.ts';
import { planUsers } from './plan-users.ts';

interface RunStart {
  readonly suite: { readonly name: string; readonly primaryMetric?: string; readonly data?: readonly unknown[] };
  readonly settings: BenchConfig;
  readonly arms: readonly Arm[];
  readonly armsNotRun: readonly ArmNotRun[];
  readonly dataset: RunDatasets;
  readonly users: readonly DatasetUser[];
  readonly parts: LoadedModels;
}

/** Primary metric of generated data: `contains` for models that were not trained to answer with the bare value. */
export function generatedMetric(
  { data }: Pick<RunStart['suite'], 'data'>,
  { modelSha256 }: Pick<EngineInfo, 'modelSha256'>,
): string | undefined {
  const entry = languageModelWithHash(modelSha256 ?? '');
  const isTrained = entry !== undefined && shippedPath(entry) !== undefined;
  return data === undefined || isTrained ? undefined : 'contains';
}

/** The record of a new run, with all that is needed to repeat it. @param listsUsers if machines divide the run */
export async function newRunRecord(
  { suite, settings: config, arms, armsNotRun, dataset, users, parts }: RunStart,
  { name, listsUsers }: { readonly name: string; readonly listsUsers: boolean },
): Promise<NewRun> {
  const { name: embedder, sha256, runtime } = await parts.embeddings.info();
  const metrics = additionalMetrics(config);
  const { workers, ...settings } = decisiveOptions(config);
  const traits = arms.map((arm) => arm.traits);
  const controls = drawControlItems(users, traits, config.seed);
  const planned = planUsers(users, traits, { repeats: config.repeats, controls }).map(({ userId, turns }) => ({
    userId,
    turns,
  }));
  const primaryMetric = suite.primaryMetric ?? generatedMetric(suite, parts.engine.info);
  return {
    name,
    suite: suite.name,
    seed: config.seed,
    plan: {
      arms: traits,
      armsNotRun,
      ...(listsUsers ? { users: planned } : {}),
      ...(metrics.length === 0 ? {} : { metrics: metrics.map(toDeclaration) }),
      metricsVersion,
      given: config.given,
      settings: {
        ...settings,
        ...(typeof workers === 'number' ? { workers } : {}),
        suite: config.suite,
        margin: config.margin,
        model: basename(config.model),
      },
    },
    environment: currentEnvironment(parts),
    model: describeModel(parts.engine.info),
    embedder: { name: embedder, sha256, runtime },
    dataset: {
      ...describeData(dataset, users),
      ...(controls === undefined ? {} : { controlItems: controls.size }),
      ...(primaryMetric === undefined ? {} : { primaryMetric }),
    },
    retriever: describeRetriever(config, parts),
  };
}

export function describeModel({ modelSha256, model, contextTokens, cellTokens }: EngineInfo): RunRecord['model'] {
  return {
    name: languageModelWithHash(modelSha256 ?? '')?.name ?? model.name,
    sha256: modelSha256 ?? '',
    parameters: model.parameters,
    contextTokens,
    cellTokens,
  };
}

export function describeRetriever(
  config: BenchConfig,
  { backend, preRetrieval, ownRetriever }: LoadedModels,
): RunRecord['retriever'] {
  return {
    name: ownRetriever?.name ?? config.retriever,
    backend: backend.backend.name,
    version: backend.backend.version,
    ...(config.retriever === 'tiered' ? { tiers: tierAddresses(config) } : {}),
    ...(config.retriever === 'hinted' ? { preRetrieval: preRetrieval.config } : {}),
  };
}

export function currentEnvironment({ engine }: Pick<LoadedModels, 'engine'>): RunRecord['environment'] {
  const { engine: name, build, threads, compute, stateIdentity } = engine.info;
  return { ...describeEnvironment(), engine: name, build, threads: threads ?? 0, compute, stateIdentity };
}
