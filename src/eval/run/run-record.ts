import { basename } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import type { RunRepository } from '../../db/run-repository.ts';
import type { RunRow } from '../../db/schema.ts';
import { placesOfTiers } from '../../memory/strategies/tiered/tier-places.ts';
import type { AskedData } from '../dataset/asked-data.ts';
import type { DatasetUser } from '../dataset/dataset.ts';
import { lastRunsHint } from '../run-name.ts';
import type { Suite } from '../suites/suite.ts';
import type { Arm, ArmTraits } from './arms.ts';
import { describeData } from './describe-data.ts';
import { describeEnvironment } from './environment.ts';
import type { ArmNotRun } from './model-ability.ts';
import type { BenchParts } from './open-bench.ts';

/** Options that the turns of a run depend on: a run is resumed with those that it began with. */
const DECISIVE = [
  'suite',
  'dataset',
  'topK',
  'threshold',
  'alpha',
  'limit',
  'seed',
  'repeats',
  'labels',
  'placement',
  'template',
  'reserve',
  'contextTokens',
  'margin',
  'kvStore',
  'kvBytes',
  'retriever',
  'coldIndex',
] as const;

function decisive(config: Partial<BenchConfig>): Partial<BenchConfig> {
  return Object.fromEntries(DECISIVE.filter((key) => key in config).map((key) => [key, config[key]]));
}

/** The options with which a run goes on: those that it began with, and of the new ones what its turns do not depend on. */
export function resumedConfig(config: BenchConfig, run: RunRow): BenchConfig {
  const open = Object.entries(config).filter(([key]) => !(DECISIVE as readonly string[]).includes(key));
  const begun = run.config as BenchConfig & { readonly dataset: string | readonly string[] };
  return {
    ...(Object.fromEntries(open) as unknown as BenchConfig),
    ...decisive(begun),
    dataset: [begun.dataset].flat(),
  };
}

/** The run to go on with. @throws BenchError `not-found`, or `bad-option` for one that is finished */
export function findResumable(runs: RunRepository, name: string): RunRow {
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

/** Where memories lie, for the strategy that has a choice. */
function tiersOf(config: BenchConfig): ReturnType<typeof placesOfTiers> | undefined {
  return config.retriever === 'tiered' ? placesOfTiers(config) : undefined;
}

/** How questions are prepared, by the strategy that does. */
function preRetrievalOf(config: BenchConfig, parts: BenchParts): BenchParts['preRetrieval']['config'] | undefined {
  return config.retriever === 'hinted' ? parts.preRetrieval.config : undefined;
}

/** A run goes on only with the data, the models and the index that it began with. @throws BenchError `bad-option` */
export async function checkSame(
  run: RunRow,
  config: BenchConfig,
  dataset: AskedData,
  parts: BenchParts,
): Promise<void> {
  const embedder = await parts.embeddings.info();
  const { backend } = parts.backend;
  const sha256 = (part: unknown): string => (part as { readonly sha256: string }).sha256;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['data set', sha256(run.dataset), dataset.sha256],
    ['model', sha256(run.model), parts.model.info.sha256],
    ['embedder', sha256(run.embedder), embedder.sha256],
    ['number of threads', (run.environment as { readonly threads: number }).threads, parts.model.info.threads],
    ['vector backend', (run.retriever as { readonly backend: string }).backend, backend.name],
    [
      'place of memories',
      JSON.stringify((run.retriever as { readonly tiers?: unknown }).tiers),
      JSON.stringify(tiersOf(config)),
    ],
    [
      'preparation of questions',
      JSON.stringify((run.retriever as { readonly preRetrieval?: unknown }).preRetrieval),
      JSON.stringify(preRetrievalOf(config, parts)),
    ],
  ];
  const changed = pairs.find(([, before, now]) => before !== now)?.[0];
  if (changed === undefined) return;
  throw new BenchError(
    'bad-option',
    `--resume ${run.name}: the ${changed} is not the one that the run began with`,
    `give the same ${changed}, or start a new run`,
  );
}

/** Writes down a run that begins, with all that is needed to repeat it. */
export async function createRun(
  runs: RunRepository,
  name: string,
  suite: Suite,
  config: BenchConfig,
  arms: readonly Arm[],
  armsNotRun: readonly ArmNotRun[],
  dataset: AskedData,
  users: readonly DatasetUser[],
  parts: BenchParts,
): Promise<RunRow> {
  const {
    model,
    backend: { backend },
  } = parts;
  const embedder = await parts.embeddings.info();
  const tiers = tiersOf(config);
  const preRetrieval = preRetrievalOf(config, parts);
  const { sha256, parameters, contextTokens, cellTokens } = model.info;
  return runs.create({
    name,
    suite: suite.name,
    seed: config.seed,
    config: {
      ...decisive(config),
      // One stands by itself, as it always did.
      dataset: config.dataset.length === 1 ? config.dataset[0] : config.dataset,
      model: basename(config.model),
      arms: arms.map(({ open: _, ...traits }): ArmTraits => traits),
      ...(armsNotRun.length === 0 ? {} : { armsNotRun }),
    },
    environment: {
      ...describeEnvironment(),
      llm: model.info.backend,
      threads: model.info.threads,
      contextOptions: model.info.contextOptions,
    },
    model: { name: model.info.name, sha256, parameters, contextTokens, cellTokens },
    embedder: { name: embedder.name, sha256: embedder.sha256 },
    dataset: describeData(dataset, users),
    retriever: {
      name: config.retriever,
      backend: backend.name,
      version: backend.version,
      ...(tiers === undefined ? {} : { tiers }),
      ...(preRetrieval === undefined ? {} : { preRetrieval }),
    },
  });
}
