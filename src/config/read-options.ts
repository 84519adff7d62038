import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { BenchError, didYouMean, formatValue, unknownOptionError } from '../base/bench-error.ts';
import { readToEnd } from '../base/read-remove-rename-files.ts';
import { engineKeyVariable, judgeKeyVariable } from './api-key.ts';
import { benchConfigSchema } from './bench-config.ts';
import { cacheVariable } from './cache-folder.ts';
import { flagName, optionDescription } from './flags-from-schema.ts';

/** Optional file in the working folder that holds options. */
export const configFileName = 'dki-bench.config.json';

const VARIABLE_PREFIX = 'DKI_BENCH_';
/** Variables with the same prefix that other modules read. */
const OTHER_VARIABLES: readonly string[] = [
  'DKI_BENCH_KV_KERNELS',
  'DKI_BENCH_VECTOR_BACKEND',
  'DKI_BENCH_ONNX_RUNTIME',
  cacheVariable,
  judgeKeyVariable,
  engineKeyVariable,
];

export type Environment = Readonly<Record<string, string | undefined>>;

/** Sources of options; by default those of this process. */
export interface OptionSources {
  /** Values of the command line by option, as texts or booleans. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: Environment;
  readonly workingFolder?: string;
}

/** Options that were given, by key: the value, and the name of the option as the user wrote it. */
export type GivenOptions = ReadonlyMap<string, { readonly value: unknown; readonly name: string }>;

/**
 * Reads the options from three sources, each overriding the ones before: `dki-bench.config.json`, `DKI_BENCH_…` variables,
 * flags.
 * @throws BenchError `bad-option` that names the option, its value and the allowed values
 */
export function readOptions({ flags = {}, environment = process.env, workingFolder = process.cwd() }: OptionSources): {
  readonly options: z.output<typeof benchConfigSchema>;
  readonly given: GivenOptions;
} {
  const flagged = Object.entries(flags).filter(([, value]) => value !== undefined);
  const given: GivenOptions = new Map([
    ...fromFile(resolve(workingFolder, configFileName)),
    ...fromEnvironment(environment),
    ...flagged.map(([key, value]) => [key, { value, name: flagName(key) }] as const),
  ]);
  const parsed = benchConfigSchema.safeParse(Object.fromEntries([...given].map(([key, { value }]) => [key, value])));
  if (!parsed.success) throw badValue(parsed.error.issues[0]!, given);
  return { options: parsed.data, given };
}

function fromFile(file: string): GivenOptions {
  if (!existsSync(file)) return new Map();
  let content: unknown;
  try {
    content = JSON.parse(readToEnd(file).toString());
  } catch (error) {
    const message = `${configFileName} cannot be read: ${(error as Error).message}`;
    throw new BenchError('bad-option', message, 'it must hold one JSON object', error);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new BenchError('bad-option', `${configFileName} holds no JSON object`, 'write options as {"seed": 7}');
  }
  const options = Object.entries(content).filter(([key]) => key !== '$schema' && !key.startsWith('//'));
  return new Map(options.map(([key, value]: [string, unknown]) => [key, { value, name: `${configFileName}: ${key}` }]));
}

function fromEnvironment(environment: Environment): GivenOptions {
  const variable = (key: string): string =>
    VARIABLE_PREFIX + key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const keys = new Map(Object.keys(benchConfigSchema.shape).map((key) => [variable(key), key]));
  const given = new Map<string, { readonly value: string; readonly name: string }>();
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(VARIABLE_PREFIX) || value === undefined || OTHER_VARIABLES.includes(name)) continue;
    const key = keys.get(name);
    if (key === undefined) {
      const known = [...keys.keys(), ...OTHER_VARIABLES];
      const message = `unknown environment variable ${name}${didYouMean(name, known)}`;
      const hint = `write ${VARIABLE_PREFIX} and an option of bench --help, such as ${variable('topK')}; others: ${OTHER_VARIABLES.join(', ')}`;
      throw new BenchError('bad-option', message, hint);
    }
    given.set(key, { value, name });
  }
  return given;
}

function badValue(issue: z.core.$ZodIssue, given: GivenOptions): BenchError {
  if (issue.code === 'unrecognized_keys') {
    const [key] = issue.keys as [string];
    return unknownOptionError(
      `${given.get(key)?.name ?? key}: unknown option`,
      key,
      Object.keys(benchConfigSchema.shape),
    );
  }
  const [key, index] = issue.path;
  const { value, name } = given.get(String(key))!;
  const { allowed, names } = optionDescription(String(key));
  const list: readonly unknown[] = Array.isArray(value)
    ? value
    : String(value)
        .split(',')
        .map((part) => part.trim());
  const culprit = typeof index === 'number' ? list[index] : value;
  if (names !== undefined && typeof culprit === 'string') {
    const message = `${name}: unknown ${names.kind} ${formatValue(culprit)}${didYouMean(culprit, names.known)}`;
    return new BenchError('bad-option', message, `known: ${names.known.join(', ')}`);
  }
  return new BenchError('bad-option', `${name} ${formatValue(culprit)}: expected ${allowed}`, 'see --help');
}
