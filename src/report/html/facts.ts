import { basename } from 'node:path';
import { placeOfCompute } from '../../eval/analysis/place-of-compute.ts';
import type { DatasetPart, RunResults } from '../../store/records/results.ts';
import { formatNumber } from '../../render/table.ts';
import { modelSize } from '../verdict.ts';

/** A fact that a reader needs to judge or repeat the runs: its values, each with the suites that have it. */
export interface Fact {
  readonly label: string;
  readonly values: readonly { readonly value: string; readonly suites: readonly string[] }[];
}

const bytes = (value: unknown): string =>
  typeof value !== 'number'
    ? 'unknown'
    : value >= 2 ** 30
      ? `${formatNumber(value / 2 ** 30, 1)} GiB`
      : `${formatNumber(value / 2 ** 20, 0)} MiB`;

/** A JSON value in words: `flashAttention false, kvType F16`. */
function inWords(value: unknown): string {
  if (value === null || value === undefined) return 'unknown';
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value);
  return Object.entries(value)
    .map(([key, part]) => `${key} ${inWords(part)}`)
    .join(', ');
}

/** Names for keys that need an explanation. */
const names: Readonly<Record<string, string>> = {
  llm: 'engine',
  gitDirty: 'uncommitted changes',
  memoryBytes: 'memory',
  kvBytes: 'stored KV per user',
};

/** Splits a key into words: `contextTokens` as `context tokens`. */
const spaced = (key: string): string => key.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

/** Paths, of which the file name alone is shown: folders differ between machines. */
const paths = new Set(['dataset', 'errata', 'kvStore']);
const inBytes = new Set(['memoryBytes', 'kvBytes']);

function described(key: string, value: unknown): string {
  if (inBytes.has(key)) return bytes(value);
  if (!paths.has(key)) return inWords(value);
  return inWords([value].flat().map((path: unknown) => (typeof path === 'string' ? basename(path) : path)));
}

/** A fact for each key of the runs, but for some. */
function factsOf(
  runs: readonly RunResults[],
  of: (results: RunResults) => Readonly<Record<string, unknown>>,
  without: readonly string[],
): Fact[] {
  const keys = [...new Set(runs.flatMap((results) => Object.keys(of(results))))].filter(
    (key) => !without.includes(key),
  );
  return keys.map((key) =>
    fact(names[key] ?? spaced(key), runs, (results) => {
      const value = of(results)[key];
      return value === undefined ? undefined : described(key, value);
    }),
  );
}

/** Makes a fact; suites with equal values share one. */
function fact(label: string, runs: readonly RunResults[], of: (results: RunResults) => string | undefined): Fact {
  const suites = new Map<string, string[]>();
  for (const results of runs) {
    const value = of(results);
    if (value !== undefined) suites.set(value, [...(suites.get(value) ?? []), results.run.suite]);
  }
  return { label, values: [...suites].map(([value, having]) => ({ value, suites: having })) };
}

const seconds = (ms: number): string => `${formatNumber(ms / 1000, 1)} s`;

/** Facts on model, data, machine and times. */
export function environmentFacts(runs: readonly RunResults[]): Fact[] {
  return [
    fact('model', runs, ({ run: { model } }) => {
      return `${model.name}, ${modelSize(model)}, window of ${model.contextTokens} tokens, sha256 ${model.sha256}`;
    }),
    fact('embedder', runs, ({ run: { embedder } }) => {
      const { name, runtime, sha256 } = embedder;
      return `${name}${runtime === undefined ? '' : ` on ${runtime}`}, sha256 ${sha256}`;
    }),
    fact(
      'retriever',
      runs,
      ({ run: { retriever } }) => `${retriever.name} on ${retriever.backend} ${retriever.version}`,
    ),
    fact('data', runs, ({ run: { dataset } }) => {
      const of = ({ name, items, users, sha256 }: Omit<DatasetPart, 'language'>) =>
        `${name}, ${items} items of ${users} users, sha256 ${sha256}`;
      return (dataset.parts ?? [dataset]).map(of).join('; ');
    }),
    fact('tokenisation', runs, ({ run: { tokenisation } }) => {
      return `${tokenisation.differing} of ${tokenisation.tokens} ids differ from the joined text`;
    }),
    fact('computed by', runs, ({ run }) => placeOfCompute(run.environment)),
    ...factsOf(runs, ({ run }) => run.environment, ['compute']),
    fact('started', runs, ({ run }) => run.startedAt),
    fact('wall time', runs, ({ run: { profile } }) => {
      return `${seconds(profile.wallMs)}, of which the model ${seconds(profile.modelMs)}, the embedder ${seconds(profile.embedderMs)}`;
    }),
  ];
}

/** The options that the turns depend on. */
export function settingsFacts(runs: readonly RunResults[]): Fact[] {
  const notRun = fact('arms not run', runs, ({ run: { armsNotRun } }) =>
    armsNotRun.length === 0 ? undefined : armsNotRun.map(({ arm, why }) => `${arm}: ${why}`).join('; '),
  );
  return [
    ...factsOf(runs, ({ run }) => run.settings, ['suite', 'model']),
    ...(notRun.values.length === 0 ? [] : [notRun]),
  ];
}
