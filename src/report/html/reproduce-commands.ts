import { basename } from 'node:path';
import { configOptions } from '../../config/flags-from-schema.ts';
import { isPublicDataset } from '../../config/public-datasets.ts';
import { shippedDatasetName } from '../../config/shipped-datasets.ts';
import { presetModels } from '../../models/default-models.ts';
import { languageModels } from '../../models/model-registry.ts';
import { shellWord } from '../../render/shell-word.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { groupName } from '../../store/run-names.ts';

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
