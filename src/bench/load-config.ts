import { resolve } from 'node:path';
import { BenchError, didYouMean, formatValue } from '../base/bench-error.ts';
import { type BenchConfig, servedModel } from '../config/bench-config.ts';
import { type OptionSources, readOptions } from '../config/read-options.ts';
import { checkOptionConflicts } from '../config/check-option-conflicts.ts';
import { judgeAddress } from '../config/normalise-server-addresses.ts';
import {
  defaultPrompt,
  fallbackAnswerPrefix,
  languageModelNamed,
  resolveEmbedder,
  resolveModel,
} from '../models/model-registry.ts';
import { presetModelName, presetModels } from '../models/default-models.ts';
import { existsSync } from 'node:fs';
import { isPublicDataset, publicDatasetNames, resolvePublicDatasetFiles } from '../config/public-datasets.ts';
import { shippedDatasets } from '../config/shipped-datasets.ts';

/** Sources of options; by default those of this process. */
export interface ConfigSources extends OptionSources {
  /** The arms that `--arms` may name. Without it any name is accepted here; opening the arms checks it. */
  readonly arms?: {
    readonly names: readonly string[];
    /** True for the name of an arm, its argument included. */
    has(name: string): boolean;
  };
}

/**
 * Loads the configuration of a run from four sources, each overriding the ones before: defaults, `dki-bench.config.json`,
 * `DKI_BENCH_…` variables, flags. Shipped files are resolved from the package, the user's paths from the working folder.
 * @throws BenchError `bad-option` that names the option, its value and the allowed values
 */
export function loadBenchConfig(sources: ConfigSources = {}): BenchConfig {
  const { workingFolder = process.cwd(), environment = process.env, arms } = sources;
  const {
    options: { dataFile: givenFiles, ...options },
    given,
  } = readOptions(sources);
  const unknownArm = arms === undefined ? undefined : options.arms?.find((name) => !arms.has(name));
  if (unknownArm !== undefined) {
    const message = `${given.get('arms')!.name}: unknown arm ${formatValue(unknownArm)}${didYouMean(unknownArm, arms!.names)}`;
    throw new BenchError('bad-option', message, `known: ${arms!.names.join(', ')}`);
  }
  const dataset = resolveDatasets(options.dataset, workingFolder);
  checkOptionConflicts({ ...options, dataset }, given);
  const dataFile = resolvePublicDatasetFiles(dataset, givenFiles, workingFolder, environment);
  const paths = ['errata', 'llamaServer', 'slotsFolder', 'kvStore', 'externalKv', 'preRetrieval', 'trace'] as const;
  const out = resolve(workingFolder, options.out);
  // Replaced by the defaults of the model once it is opened.
  const prompt = defaultPrompt(languageModelNamed(presetModelName), false);
  return {
    ...prompt,
    ...options,
    ...Object.fromEntries(
      paths.flatMap((key) => (options[key] === undefined ? [] : [[key, resolve(workingFolder, options[key])]])),
    ),
    generalAnswerPrefix: fallbackAnswerPrefix(options.answerPrefix ?? prompt.answerPrefix, prompt),
    given: [...given.keys()],
    dataset,
    ...(Object.keys(dataFile).length === 0 ? {} : { dataFile }),
    ...(options.judge === undefined ? {} : { judge: judgeAddress(options.judge) }),
    model: chooseModel(options, workingFolder),
    embedder: options.embedder === undefined ? presetModels.embedder : resolveEmbedder(options.embedder, workingFolder),
    out,
    db: options.db === undefined ? resolve(out, 'dki-bench.sqlite') : resolve(workingFolder, options.db),
  };
}

/** With `--engine-url`, the model is a server's name for it, or the one that the server has loaded. */
function chooseModel({ model, engineUrl }: { model?: string; engineUrl?: string }, workingFolder: string): string {
  if (model === undefined) return engineUrl === undefined ? presetModels.model : servedModel;
  return resolveModel(model, workingFolder, engineUrl !== undefined);
}

/**
 * Resolves the value of `--dataset`: a list, or comma-separated names. The name of an existing file may contain commas.
 * @returns paths of files, and names of public data sets
 * @throws BenchError `bad-option` for an unknown name
 */
function resolveDatasets(given: string | readonly string[], workingFolder: string): string[] {
  const isOne = typeof given === 'string' && (!given.includes(',') || existsSync(resolve(workingFolder, given)));
  const names = isOne ? [given] : typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given;
  return names.map((name) => resolveDataset(name, workingFolder));
}

function resolveDataset(dataset: string, workingFolder: string): string {
  if (/\.(?:csv|tsv)$/i.test(dataset)) {
    const convert = `npx dki-bench data convert --from csv ${dataset} --out ${dataset.replace(/\.\w+$/, '.jsonl')}`;
    throw new BenchError('bad-option', `--dataset ${dataset}: is a table, not a data set`, `convert it: ${convert}`);
  }
  if (/[/\\.]/.test(dataset)) return resolve(workingFolder, dataset);
  const shipped = shippedDatasets();
  const path = shipped.get(dataset);
  if (path !== undefined) return path;
  if (isPublicDataset(dataset)) return dataset;
  const known = [...shipped.keys(), ...publicDatasetNames];
  throw new BenchError(
    'bad-option',
    `--dataset: unknown data set "${dataset}"${didYouMean(dataset, known)}`,
    `shipped: ${[...shipped.keys()].join(', ')}; public: ${publicDatasetNames.join(', ')}; for a file, write ./${dataset}`,
  );
}
