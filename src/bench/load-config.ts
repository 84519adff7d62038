import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { cacheVariable } from '../config/cache-folder.ts';
import { configFileName, isComment } from '../config/config-file.ts';
import { type BenchConfig, benchConfigSchema, servedModel } from '../config/bench-config.ts';
import { descriptionOf, flagOf } from '../config/config-options.ts';
import { judgeAddress, judgeKeyVariable } from '../config/judge-address.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { shownValue } from '../base/shown-value.ts';
import { isPublicDataset, publicDatasetFiles, publicDatasetNames } from '../config/public-datasets.ts';
import { type Given, requireUse } from '../config/require-use.ts';
import { engineKeyVariable } from '../config/server-key.ts';
import { shippedDatasets } from '../config/shipped-datasets.ts';
import { placeOfEmbedder, placeOfModel } from '../models/place-of-name.ts';
import { askedOf, generalPrefixOf } from '../models/asked.ts';
import { presetModelName, presetModels } from '../models/preset-models.ts';
import { languageModelNamed } from '../models/registry.ts';

const variablePrefix = 'DKI_BENCH_';
/** Variables with the same prefix that other modules read. */
const otherVariables: readonly string[] = [
  'DKI_BENCH_KV_KERNELS',
  'DKI_BENCH_VECTOR_BACKEND',
  'DKI_BENCH_ONNX_RUNTIME',
  cacheVariable,
  judgeKeyVariable,
  engineKeyVariable,
];

/** Sources of options; the defaults are the process's own. */
export interface ConfigSources {
  /** Values of the command line by option, as texts or booleans. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly workingFolder?: string;
  /** Checks `--arms`; without it any name is taken, and whoever opens the arms checks it. */
  readonly arms?: ArmVocabulary;
}

/** The arms that can be named: this layer does not know them. */
export interface ArmVocabulary {
  /** For suggestions and hints. */
  readonly names: readonly string[];
  has(name: string): boolean;
}

function variableOf(key: string): string {
  return variablePrefix + key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function fromFile(file: string): Map<string, Given> {
  if (!existsSync(file)) return new Map();
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { message } = error as Error;
    throw new BenchError(
      'bad-option',
      `${configFileName} cannot be read: ${message}`,
      'it holds one JSON object',
      error,
    );
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new BenchError('bad-option', `${configFileName} holds no JSON object`, 'write options as {"seed": 7}');
  }
  const options = Object.entries(content).filter(([key]) => !isComment(key));
  return new Map(options.map(([key, value]: [string, unknown]) => [key, { value, name: `${configFileName}: ${key}` }]));
}

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): Map<string, Given> {
  const keys = new Map(Object.keys(benchConfigSchema.shape).map((key) => [variableOf(key), key]));
  const given = new Map<string, Given>();
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(variablePrefix) || value === undefined || otherVariables.includes(name)) continue;
    const key = keys.get(name);
    if (key === undefined) {
      const known = [...keys.keys(), ...otherVariables];
      const message = `unknown environment variable ${name}${didYouMean(name, known)}`;
      throw new BenchError('bad-option', message, `known: ${known.join(', ')}`);
    }
    given.set(key, { value, name });
  }
  return given;
}

function fromFlags(flags: Readonly<Record<string, unknown>>): Map<string, Given> {
  const entries = Object.entries(flags).filter(([, value]) => value !== undefined);
  return new Map(entries.map(([key, value]) => [key, { value, name: flagOf(key) }]));
}

function unknownOption(key: string, given: Given | undefined): BenchError {
  const known = Object.keys(benchConfigSchema.shape);
  const message = `${given?.name ?? key}: unknown option "${key}"${didYouMean(key, known)}`;
  return new BenchError('bad-option', message, `known: ${known.join(', ')}`);
}

function requireArms(names: readonly string[], arms: ArmVocabulary, given: Given): void {
  const unknown = names.find((name) => !arms.has(name));
  if (unknown === undefined) return;
  const message = `${given.name}: unknown arm ${shownValue(unknown)}${didYouMean(unknown, arms.names)}`;
  throw new BenchError('bad-option', message, `known: ${arms.names.join(', ')}`);
}

function badValue(issue: z.core.$ZodIssue, given: ReadonlyMap<string, Given>): BenchError {
  if (issue.code === 'unrecognized_keys') return unknownOption(issue.keys[0]!, given.get(issue.keys[0]!));
  const [key, index] = issue.path;
  const { value, name } = given.get(String(key))!;
  const { allowed, names } = descriptionOf(String(key));
  const listed: unknown = Array.isArray(value)
    ? value
    : String(value)
        .split(',')
        .map((part) => part.trim());
  const culprit: unknown = typeof index === 'number' ? (listed as readonly unknown[])[index] : value;
  if (names !== undefined && typeof culprit === 'string') {
    const message = `${name}: unknown ${names.kind} ${shownValue(culprit)}${didYouMean(culprit, names.known)}`;
    return new BenchError('bad-option', message, `known: ${names.known.join(', ')}`);
  }
  return new BenchError('bad-option', `${name} ${shownValue(culprit)}: expected ${allowed}`, 'see --help');
}

/** Resolves a bare name to a shipped data set, any other name to a file; a public data set keeps its name. */
function datasetPath(dataset: string, workingFolder: string): string {
  if (/[/\\.]/.test(dataset)) return resolve(workingFolder, dataset);
  const shipped = shippedDatasets();
  const path = shipped.get(dataset);
  if (path !== undefined) return path;
  if (isPublicDataset(dataset)) return dataset;
  const known = [...shipped.keys(), ...publicDatasetNames];
  const message = `--dataset: unknown data set "${dataset}"${didYouMean(dataset, known)}`;
  throw new BenchError(
    'bad-option',
    message,
    `shipped: ${[...shipped.keys()].join(', ')}; public: ${publicDatasetNames.join(', ')}; for a file, write ./${dataset}`,
  );
}

/** Resolves a list, or comma-separated names; an existing file with a comma in its name is one name. */
function datasetPaths(given: string | readonly string[], workingFolder: string): string[] {
  const isOne = typeof given === 'string' && (!given.includes(',') || existsSync(resolve(workingFolder, given)));
  const names = isOne ? [given] : typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given;
  return names.map((name) => datasetPath(name, workingFolder));
}

/** A server has its own names for models, and has loaded one where none is named. */
function placeOfGivenModel(
  { model, engineUrl }: { readonly model?: string; readonly engineUrl?: string },
  workingFolder: string,
): string {
  if (model === undefined) return engineUrl === undefined ? presetModels.model : servedModel;
  return placeOfModel(model, workingFolder, engineUrl === undefined ? 'refused' : 'kept');
}

/**
 * Loads the configuration of a run from four sources, each overriding the ones before: defaults, `dki-bench.config.json`,
 * `DKI_BENCH_…` variables, flags. Shipped files are resolved from the package, users' paths from the working folder.
 * @throws BenchError `bad-option` that names the option, its value and the allowed values
 */
export function loadBenchConfig(sources: ConfigSources = {}): BenchConfig {
  const workingFolder = sources.workingFolder ?? process.cwd();
  const given = new Map([
    ...fromFile(resolve(workingFolder, configFileName)),
    ...fromEnvironment(sources.environment ?? process.env),
    ...fromFlags(sources.flags ?? {}),
  ]);
  const parsed = benchConfigSchema.safeParse(Object.fromEntries([...given].map(([key, { value }]) => [key, value])));
  if (!parsed.success) throw badValue(parsed.error.issues[0]!, given);
  const { data } = parsed;
  if (data.run !== undefined && data.resume !== undefined) {
    throw new BenchError(
      'bad-option',
      '--run and --resume both name a run',
      'a resumed run keeps its name: drop --run',
    );
  }
  if (data.arms !== undefined && sources.arms !== undefined) requireArms(data.arms, sources.arms, given.get('arms')!);
  const { dataFile: givenFiles, ...options } = data;
  const dataset = datasetPaths(data.dataset, workingFolder);
  requireUse({ ...options, dataset }, given);
  const environment = sources.environment ?? process.env;
  const dataFile = publicDatasetFiles(dataset, givenFiles, { workingFolder, environment });
  const out = resolve(workingFolder, data.out);
  // Whoever opens the model puts in how that one is asked, where nobody says.
  const asked = askedOf(languageModelNamed(presetModelName), false);
  return {
    ...asked,
    ...options,
    generalAnswerPrefix: generalPrefixOf(data.answerPrefix ?? asked.answerPrefix, asked),
    given: [...given.keys()],
    dataset,
    ...(Object.keys(dataFile).length === 0 ? {} : { dataFile }),
    ...(data.judge === undefined ? {} : { judge: judgeAddress(data.judge) }),
    ...(data.errata === undefined ? {} : { errata: resolve(workingFolder, data.errata) }),
    model: placeOfGivenModel(data, workingFolder),
    ...(data.llamaServer === undefined ? {} : { llamaServer: resolve(workingFolder, data.llamaServer) }),
    ...(data.slotsFolder === undefined ? {} : { slotsFolder: resolve(workingFolder, data.slotsFolder) }),
    embedder: data.embedder === undefined ? presetModels.embedder : placeOfEmbedder(data.embedder, workingFolder),
    out,
    db: data.db === undefined ? resolve(out, 'dki-bench.sqlite') : resolve(workingFolder, data.db),
    ...(data.kvStore === undefined ? {} : { kvStore: resolve(workingFolder, data.kvStore) }),
    ...(data.preRetrieval === undefined ? {} : { preRetrieval: resolve(workingFolder, data.preRetrieval) }),
  };
}
