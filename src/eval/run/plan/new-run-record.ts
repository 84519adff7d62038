import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { BenchConfig } from '../../../config/bench-config.ts';
import type { RunDatasets } from '../../../data/join-datasets.ts';
import { type Dataset, type DatasetUser, evidenceIsKnown } from '../../../data/dataset.ts';
import type { EngineInfo } from '../../../engine/engine-info.ts';
import { languageModelWithHash, shippedPath } from '../../../models/model-registry.ts';
import { tierAddresses } from '../../../retrieval/tiered/open-tiered-retriever.ts';
import type { ArmNotRun, DatasetPart, RunDescription } from '../../../store/records/run-description.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { NewRun } from '../../../store/run-repository.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';
import { metricsVersion } from '../../analysis/metrics/metrics-version.ts';
import { additionalMetrics, toDeclaration } from '../../analysis/metrics/metric-selection.ts';
import type { LoadedModels } from '../loaded-models.ts';
import { drawControlItems, drawnDatasets, planUsers } from './plan-users.ts';
import { decisiveOptions } from './option-resume-rules.ts';
import { packageJson } from '../../../base/package-json.ts';

interface RunStart {
  readonly suite: { readonly name: string; readonly data?: readonly unknown[] };
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
  const { plannedContrast, ...data } = describeData(dataset, users);
  const primaryMetric = generatedMetric(suite, parts.engine.info);
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
      ...data,
      // A suite that asks no arm cannot measure it.
      ...(plannedContrast === undefined || arms.length === 0 ? {} : { plannedContrast }),
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

/** @param users the drawn users, with their drawn items */
export function describeData(data: RunDatasets, users: readonly DatasetUser[]): RunDescription['dataset'] {
  const { name, sha256, parts } = data;
  const asked = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  const withoutEvidence = asked.filter(({ item }) => !evidenceIsKnown(item)).length;
  const describeParts = () =>
    drawnDatasets(data, users).map(({ part, users: own }): DatasetPart => {
      const items = own.reduce((sum, user) => sum + user.items.length, 0);
      const { name, sha256, language } = part;
      return { name, sha256, language, items, users: own.length, ...origin(part) };
    });
  return {
    name,
    sha256,
    items: asked.length,
    users: users.length,
    ...(withoutEvidence === 0 ? {} : { withoutEvidence }),
    counts: {
      userKind: countBy(asked.map(({ user }) => user.kind)),
      category: countBy(asked.map(({ item }) => item.category)),
      phrasing: countBy(asked.map(({ item }) => item.phrasing)),
    },
    ...(parts.length === 1 ? origin(parts[0]!) : { ...sharedDeclarations(parts), parts: describeParts() }),
  };
}

function countBy(names: readonly (string | undefined)[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(names.filter(Boolean), (name) => name!);
  return Object.fromEntries([...groups].map(([name, same]) => [name, same.length]));
}

function origin({ declared, brought }: Dataset) {
  if (brought === undefined) return declared;
  const { notes: _, ...hashes } = brought;
  return { ...declared, brought: hashes };
}

/** The primary metric and the planned contrast that all data sets of a run declare. */
export function sharedDeclarations(
  parts: RunDatasets['parts'],
): Pick<Dataset['declared'], 'primaryMetric' | 'plannedContrast'> {
  const fields = ['primaryMetric', 'plannedContrast'] as const;
  const [first] = parts;
  const shared = fields.filter((field) =>
    parts.every(({ declared }) => isDeepStrictEqual(declared[field], first?.declared[field])),
  );
  const values = shared.map((field) => [field, first?.declared[field]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** What git says of this checkout; null without one: an installed program may lie in another project's repository. */
function git(...args: string[]): string | null {
  if (!existsSync(`${root}/.git`)) return null;
  try {
    return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

/** The program, its commit, Node and the machine. */
export function describeEnvironment() {
  const lockfile = `${root}/package-lock.json`;
  const status = git('status', '--porcelain', '--untracked-files=no');
  return {
    benchVersion: packageJson.version,
    gitCommit: git('rev-parse', 'HEAD'),
    gitDirty: status === null ? null : status !== '',
    lockfileSha256: existsSync(lockfile) ? createHash('sha256').update(readFileSync(lockfile)).digest('hex') : null,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
}
