import { basename } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import type { RunRepository } from '../../db/run-repository.ts';
import type { RunRow } from '../../db/schema.ts';
import type { Dataset, DatasetUser } from '../dataset/dataset.ts';
import type { Arm } from './arms.ts';
import { datasetCounts } from './dataset-counts.ts';
import { describeEnvironment } from './environment.ts';
import type { BenchParts } from './open-bench.ts';

/** Options that the turns of a run depend on: a run is resumed with those that it began with. */
const DECISIVE = [
  'suite',
  'dataset',
  'topK',
  'threshold',
  'limit',
  'seed',
  'repeats',
  'labels',
  'placement',
  'reserve',
  'contextTokens',
  'margin',
  'kvBytes',
] as const;

/** Those of the options. */
export function decisive(config: BenchConfig): Partial<BenchConfig> {
  return Object.fromEntries(DECISIVE.filter((key) => key in config).map((key) => [key, config[key]]));
}

/** The run to go on with. @throws BenchError `not-found`, or `bad-option` for one that is finished */
export function findResumable(runs: RunRepository, name: string): RunRow {
  const run = runs.findByName(name);
  if (run === undefined) {
    const known = runs.list().map((other) => other.name);
    throw new BenchError(
      'not-found',
      `--resume ${name}: there is no such run`,
      known.length === 0 ? 'start one: npm run bench' : `the last runs are ${known.slice(-3).join(', ')}`,
    );
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

/** A run goes on only with the data and the models that it began with. @throws BenchError `bad-option` */
export function checkSame(run: RunRow, dataset: Dataset, parts: BenchParts): void {
  const before = run.dataset as { sha256: string };
  const model = run.model as { sha256: string };
  const changed =
    before.sha256 !== dataset.sha256 ? 'data set' : model.sha256 !== parts.model.info.sha256 ? 'model' : undefined;
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
  config: BenchConfig,
  arms: readonly Arm[],
  dataset: Dataset,
  users: readonly DatasetUser[],
  parts: BenchParts,
): Promise<RunRow> {
  const {
    model,
    backend: { backend },
  } = parts;
  const embedder = await parts.embeddings.info();
  const { name, sha256, parameters, contextTokens } = model.info;
  return runs.create({
    name: config.run ?? `${config.suite}-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`,
    suite: config.suite,
    seed: config.seed,
    config: {
      ...decisive(config),
      model: basename(config.model),
      arms: arms.map(({ name: arm, exact, kv }) => ({ name: arm, exact, kv })),
    },
    environment: {
      ...describeEnvironment(),
      llm: model.info.backend,
      threads: model.info.threads,
      contextOptions: model.info.contextOptions,
    },
    model: { name, sha256, parameters, contextTokens },
    embedder: { name: embedder.name, sha256: embedder.sha256 },
    dataset: {
      name: dataset.name,
      sha256: dataset.sha256,
      items: users.reduce((sum, user) => sum + user.items.length, 0),
      users: users.length,
      counts: datasetCounts(users),
    },
    retriever: { name: config.retriever, backend: backend.name, version: backend.version },
  });
}
