/** What the page says of how runs were made: environment, settings, and the commands that repeat them. */
import { basename } from 'node:path';
import { configOptions } from '../../config/flags-from-schema.ts';
import { isPublicDataset } from '../../config/public-datasets.ts';
import { shippedDatasetName } from '../../config/shipped-datasets.ts';
import { deviceName } from '../../eval/analysis/device-name.ts';
import { presetModels } from '../../models/default-models.ts';
import { languageModels } from '../../models/model-registry.ts';
import { formatNumber } from '../../render/format-number.ts';
import { shellWord } from '../../render/shell-word.ts';
import type { DatasetPart } from '../../store/records/run-description.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { groupName } from '../../store/run-names.ts';
import { modelSize } from '../verdict-sentences.ts';

const bytes = (value: number): string =>
  value >= 2 ** 30 ? `${formatNumber(value / 2 ** 30, 1)} GiB` : `${formatNumber(value / 2 ** 20, 0)} MiB`;
const seconds = (ms: number): string => `${formatNumber(ms / 1000, 1)} s`;

const labels: Readonly<Record<string, string>> = {
  llm: 'engine',
  gitDirty: 'uncommitted changes',
  memoryBytes: 'memory',
  kvBytes: 'stored KV per user',
};

/** Settings with paths. Only file names are shown, since folders differ between machines. */
const paths = new Set(['dataset', 'errata', 'kvStore', 'externalKv', 'trace']);

/** A JSON value for readers: `flashAttention false, kvType F16`. */
function valueText(value: unknown, key = ''): string {
  if (value === null || value === undefined) return 'unknown';
  if (Array.isArray(value)) return value.map((part) => valueText(part, key)).join(', ');
  if (typeof value === 'string') return paths.has(key) ? basename(value) : value;
  if (typeof value === 'number' && (key === 'memoryBytes' || key === 'kvBytes')) return bytes(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${valueText(part)}`)
    .join(', ');
}

/** A fact about the runs; each of its values names the suites that have it. */
export type Fact = ReturnType<typeof fact>;

function fact(label: string, runs: readonly RunResults[], read: (results: RunResults) => string | undefined) {
  const byValue = Map.groupBy(runs, read);
  const values = [...byValue].flatMap(([value, having]) =>
    value === undefined ? [] : [{ value, suites: having.map(({ run }) => run.suite) }],
  );
  return { label, values };
}

function factPerKey(runs: readonly RunResults[], part: 'environment' | 'settings', omitted: readonly string[]): Fact[] {
  const keys = new Set(runs.flatMap(({ run }) => Object.keys(run[part])));
  for (const key of omitted) keys.delete(key);
  return [...keys].map((key) => {
    // contextTokens becomes `context tokens`.
    const label = labels[key] ?? key.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
    return fact(label, runs, ({ run }) => (run[part][key] === undefined ? undefined : valueText(run[part][key], key)));
  });
}

export function environmentFacts(runs: readonly RunResults[]): Fact[] {
  const dataset = ({ name, items, users, sha256 }: Omit<DatasetPart, 'language'>) =>
    `${name}, ${items} items of ${users} users, sha256 ${sha256}`;
  const readers: Readonly<Record<string, (run: RunResults['run']) => string>> = {
    model: ({ model }) =>
      `${model.name}, ${modelSize(model)}, window of ${model.contextTokens} tokens, sha256 ${model.sha256}`,
    embedder: ({ embedder: { name, runtime, sha256 } }) =>
      `${name}${runtime === undefined ? '' : ` on ${runtime}`}, sha256 ${sha256}`,
    retriever: ({ retriever }) => `${retriever.name} on ${retriever.backend} ${retriever.version}`,
    data: (run) => (run.dataset.parts ?? [run.dataset]).map(dataset).join('; '),
    tokenisation: ({ tokenisation }) =>
      `${tokenisation.differing} of ${tokenisation.tokens} ids differ from the joined text`,
    'computed by': ({ environment }) => deviceName(environment),
  };
  return [
    ...Object.entries(readers).map(([label, read]) => fact(label, runs, ({ run }) => read(run))),
    ...factPerKey(runs, 'environment', ['compute']),
    fact('started', runs, ({ run }) => run.startedAt),
    fact('wall time', runs, ({ run: { profile } }) => {
      const { wallMs, modelMs, embedderMs } = profile;
      const parts = `${seconds(modelMs)} in the model and ${seconds(embedderMs)} in the embedder`;
      const isSum = modelMs + embedderMs > wallMs;
      return `${seconds(wallMs)}${isSum ? '; over all processes' : ', including'} ${parts}`;
    }),
  ];
}

export function settingsFacts(runs: readonly RunResults[]): Fact[] {
  const armsNotRun = ({ run }: RunResults) => run.armsNotRun.map(({ arm, why }) => `${arm}: ${why}`).join('; ');
  const notRun = fact('arms not run', runs, (results) => armsNotRun(results) || undefined);
  return [...factPerKey(runs, 'settings', ['suite', 'model']), ...(notRun.values.length === 0 ? [] : [notRun])];
}

/** Settings that need special options, or hold paths, which differ between machines. */
const specialSettings = new Set(['suite', 'dataset', 'dataFile', 'model', 'kvStore', 'externalKv']);

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}

function commonValue(runs: readonly RunResults[], setting: (results: RunResults) => unknown): string | undefined {
  const values = new Set(runs.map((results) => plainText(setting(results))));
  const [value] = values;
  return values.size > 1 || value === '' ? undefined : value;
}

/** Data sets, comma-separated: shipped and public ones by name, others as files in the working folder. */
function datasetNames({ run }: RunResults): string {
  const files = [run.settings['dataset']].flat().filter((file) => typeof file === 'string');
  return files
    .map((file) => shippedDatasetName(file) ?? (isPublicDataset(file) ? file : `./${basename(file)}`))
    .join(',');
}

function publicFiles({ run }: RunResults): string {
  return Object.entries((run.settings['dataFile'] ?? {}) as Readonly<Record<string, string>>)
    .map(([name, file]) => `${name}=${basename(file)}`)
    .join(',');
}

const findModel = (file: string | undefined) =>
  languageModels.find(({ source }) => file !== undefined && basename(source) === basename(file));

function options(runs: readonly RunResults[]): string[] {
  const presetDataset = configOptions().find(({ key }) => key === 'dataset')!.default;
  const dataset = commonValue(runs, datasetNames);
  const registered: Readonly<Record<string, unknown>> =
    findModel(commonValue(runs, ({ run }) => run.settings['model']))?.asked ?? {};
  const plain = configOptions().flatMap(({ key, flag, negated, default: preset }) => {
    if (specialSettings.has(key)) return [];
    const value = commonValue(runs, ({ run }) => run.settings[key]);
    if (negated) return value === 'false' ? [flag] : [];
    return value === undefined || value === plainText(registered[key] ?? preset) ? [] : [flag, value];
  });
  const file = (flag: string, shipped: string, name: (results: RunResults) => unknown): string[] => {
    const value = commonValue(runs, name);
    return value === undefined || basename(value) === basename(shipped) ? [] : [flag, basename(value)];
  };
  const arms = commonValue(runs, (results) => results.arms.map(({ arm }) => arm).join(','));
  const dataFiles = commonValue(runs, publicFiles);
  return [
    ...(arms === undefined ? [] : ['--arms', arms]),
    ...(dataset === undefined || dataset === presetDataset ? [] : ['--dataset', dataset]),
    ...(dataFiles === undefined ? [] : ['--data-file', dataFiles]),
    ...file('--model', presetModels.model, ({ run }) => run.settings['model']).map(
      (word) => findModel(word)?.name ?? word,
    ),
    ...file('--embedder', presetModels.embedder, ({ run }) => run.embedder.name),
    ...file('--kv-store', '', ({ run }) => run.settings['kvStore']),
    ...file('--external-kv', '', ({ run }) => run.settings['externalKv']),
    ...plain,
  ];
}

/** The commands that repeat these runs and their report. Suites use their own defaults for options that are not named. */
export function reproduceCommands(runs: readonly RunResults[]): string[] {
  const { environment, name } = runs[0]!.run;
  const group = groupName(name);
  const suites = runs.map(({ run }) => run.suite).join(',');
  const commit = environment['gitCommit'];
  const words = ['--suite', suites, '--run', group, ...options(runs)];
  return [
    ...(typeof commit === 'string' ? [`git checkout ${shellWord(commit)}`] : []),
    'npm ci',
    `npm run bench -- ${words.map(shellWord).join(' ')}`,
    `npm run tables -- --run ${shellWord(group)} --check`,
  ];
}
