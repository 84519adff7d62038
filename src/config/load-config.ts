import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { BenchError } from './bench-error.ts';
import { type BenchConfig, benchConfigSchema, optionDescriptions, randomModelPrefix } from './bench-config.ts';
import { hubPrefix } from './hub/hub-reference.ts';
import { didYouMean } from './nearest-name.ts';
import { shippedDatasets } from './shipped-datasets.ts';
import { presetModels, shippedLanguageModels } from './shipped-models.ts';

/** Read from the working folder where it is there. */
const configFileName = 'dki-bench.config.json';

const variablePrefix = 'DKI_BENCH_';
/** Variables with the same prefix that are read elsewhere. */
const otherVariables: readonly string[] = ['DKI_BENCH_VECTOR_BACKEND'];

export interface ConfigSources {
  /** By option: what the command line gave, as texts or switches. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly workingFolder?: string;
}

/** A value, and how its user would name the option that gave it. */
interface Given {
  readonly value: unknown;
  readonly name: string;
}

/** `topK` → `--top-k` */
function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
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
  return new Map(
    Object.entries(content).map(([key, value]: [string, unknown]) => [
      key,
      { value, name: `${configFileName}: ${key}` },
    ]),
  );
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

/** The schema inside defaults and optionals, with which the description is kept. */
function descriptionOf(key: string) {
  let schema: unknown = benchConfigSchema.shape[key as keyof typeof benchConfigSchema.shape];
  for (;;) {
    const description = optionDescriptions.get(schema as z.ZodType);
    if (description !== undefined) return description;
    schema = (schema as z.ZodDefault<z.ZodType>).unwrap();
  }
}

/** The options as the command line and its help need them, in the order of the schema. */
export function configOptions() {
  const defaults: Readonly<Record<string, unknown>> = benchConfigSchema.parse({});
  return Object.keys(benchConfigSchema.shape).map((key) => {
    return { key, flag: flagOf(key), default: defaults[key], ...descriptionOf(key) };
  });
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
    const message = `${name}: unknown ${names.kind} ${JSON.stringify(culprit)}${didYouMean(culprit, names.known)}`;
    return new BenchError('bad-option', message, `known: ${names.known.join(', ')}`);
  }
  return new BenchError('bad-option', `${name} ${JSON.stringify(culprit)}: expected ${allowed}`, 'see --help');
}

/** A bare name stands for a data set that ships, all else for a file. */
function datasetPath(dataset: string, workingFolder: string): string {
  if (/[/\\.]/.test(dataset)) return resolve(workingFolder, dataset);
  const shipped = shippedDatasets();
  const path = shipped.get(dataset);
  if (path !== undefined) return path;
  const message = `--dataset: unknown data set "${dataset}"${didYouMean(dataset, shipped.keys())}`;
  throw new BenchError(
    'bad-option',
    message,
    `shipped: ${[...shipped.keys()].join(', ')}; for a file, write ./${dataset}`,
  );
}

/** The files of a list, or of names by comma; a file that has a comma in its own name is one. */
function datasetPaths(given: string | readonly string[], workingFolder: string): string[] {
  const isOne = typeof given === 'string' && (!given.includes(',') || existsSync(resolve(workingFolder, given)));
  const names = isOne ? [given] : typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given;
  return names.map((name) => datasetPath(name, workingFolder));
}

/** Options that mean nothing to another strategy of recall. */
const optionsOfStrategy: Readonly<Record<string, readonly string[]>> = {
  tiered: ['hot', 'cold', 'coldIndex', 'eventsPort'],
  salience: ['recallTokens'],
  hinted: ['preRetrieval'],
};

/** @throws BenchError `bad-option` for an option that nothing in the run would use */
function requireUse(
  { retriever, cold, suite }: Pick<BenchConfig, 'retriever' | 'cold' | 'suite'>,
  given: ReadonlyMap<string, Given>,
) {
  // That suite runs every strategy.
  const comparesAll = suite.includes('retrieval') || suite.includes('all');
  const unused = ({ name }: Given, hint: string) =>
    new BenchError('bad-option', `${name}: nothing in this run would use it`, hint);
  for (const [strategy, keys] of Object.entries(optionsOfStrategy)) {
    const idle = keys.map((key) => given.get(key)).find((option) => option !== undefined);
    if (retriever !== strategy && !comparesAll && idle !== undefined)
      throw unused(idle, `add --retriever ${strategy}, or drop it`);
  }
  const index = given.get('coldIndex');
  if (index !== undefined && cold === undefined) throw unused(index, 'give --cold postgres://… too');
}

/**
 * The configuration of a run: defaults, then `dki-bench.config.json`, then `DKI_BENCH_…`, then flags; the last wins.
 * Shipped files are found from the package, users' paths from the working folder.
 *
 * @throws BenchError `bad-option` that names the option, the value and what is allowed
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
  requireUse(data, given);
  const out = resolve(workingFolder, data.out);
  // What is named by its kind is no path.
  const named = (name: string): boolean => [randomModelPrefix, hubPrefix].some((prefix) => name.startsWith(prefix));
  const user = (name: string | undefined, shipped: string): string =>
    name === undefined ? shipped : named(name) ? name : resolve(workingFolder, name);
  return {
    ...data,
    given: [...given.keys()],
    dataset: datasetPaths(data.dataset, workingFolder),
    model: shippedLanguageModels.get(data.model ?? '') ?? user(data.model, presetModels.model),
    embedder: user(data.embedder, presetModels.embedder),
    out,
    db: data.db === undefined ? resolve(out, 'dki-bench.sqlite') : resolve(workingFolder, data.db),
    ...(data.kvStore === undefined ? {} : { kvStore: resolve(workingFolder, data.kvStore) }),
    ...(data.preRetrieval === undefined ? {} : { preRetrieval: resolve(workingFolder, data.preRetrieval) }),
  };
}
