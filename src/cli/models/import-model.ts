import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { removeFromCache } from '../../models/kept-files.ts';
import { type ImportedModel, importedName, importedPath } from '../../models/imported-models.ts';
import { openImportSource } from '../../models/import/import-source.ts';
import { keepKnownFiles } from '../../models/import/keep-known-files.ts';
import type { ImportSource, OfferedFile } from '../../models/import/offered-file.ts';
import { StagedFile } from '../../models/import/staged-file.ts';
import { type ModelEntry, modelRegistry } from '../../models/registry.ts';
import { modelFiles } from '../../models/embedding/model-folder.ts';
import type { EngineOpener } from '../../engine/engine-request.ts';

/** Result of importing one file, folder or archive. */
export interface Imported {
  /** Entries of the registry of which it had files, with the names of these. */
  readonly entries: readonly { readonly entry: ModelEntry; readonly files: readonly string[] }[];
  /** Models that the registry does not know, kept under the names of their files. */
  readonly unknown: readonly ImportedModel[];
}

const GGUF = /\.gguf$/i;

/**
 * Imports the models of a GGUF file, a folder or an archive into the cache.
 * @throws BenchError `bad-data` where it holds no model, is damaged, or a name is taken; `bad-model` for a GGUF file that
 * the engine cannot read; `disk`, `not-found`
 */
export async function importModel(path: string, engines: EngineOpener, signal?: AbortSignal): Promise<Imported> {
  using source = await openImportSource(path);
  const { kept, others } = await keepKnownFiles(source, signal === undefined ? {} : { signal });
  const entries = [...new Set(kept.map(({ entry }) => entry))].map((entry) => ({
    entry,
    files: kept.filter((file) => file.entry === entry).map(({ name }) => name),
  }));
  const unknown: ImportedModel[] = [];
  for (const file of others.filter(({ path: place }) => GGUF.test(place))) {
    unknown.push(await keepUnknownModel(source, file, engines, signal));
  }
  // One that the registry knows in all its files is there already.
  const folders = embedderFolders(source.files).filter(({ files }) =>
    [...files.values()].some((file) => others.includes(file)),
  );
  for (const folder of folders) unknown.push(await keepUnknownEmbedder(source, folder, signal));
  if (entries.length > 0 || unknown.length > 0) return { entries, unknown };
  throw new BenchError(
    'bad-data',
    `${path}: holds no model`,
    `a language model is a GGUF file; an embedder is a folder with ${modelFiles.required.join(', ')} and ${modelFiles.weights.join(' or ')}`,
  );
}

async function keepUnknownModel(
  source: ImportSource,
  file: OfferedFile,
  engines: EngineOpener,
  signal: AbortSignal | undefined,
): Promise<ImportedModel> {
  const name = freeName('language-model', posix.basename(file.path), source.path);
  using staged = await StagedFile.of(source, file, signal);
  try {
    await engines.inspect(staged.path);
  } catch (cause) {
    if (!(cause instanceof BenchError)) throw cause;
    // Named as the user knows it, not by its place in the cache.
    const message = cause.message.replaceAll(staged.path, `${file.path} of ${source.path}`);
    throw new BenchError(cause.code, message, cause.hint, cause);
  }
  const path = importedPath('language-model', name);
  staged.keepAs(path);
  return { kind: 'language-model', name, path };
}

/** The folder of an embedder among offered files: files by their places in the layout of `modelFiles`. */
interface OfferedEmbedder {
  readonly folder: string;
  readonly files: ReadonlyMap<string, OfferedFile>;
}

/** The folders that hold all files of an embedder; weights may lie beside the others. */
function embedderFolders(offered: readonly OfferedFile[]): OfferedEmbedder[] {
  const byPath = new Map(offered.map((file) => [file.path, file]));
  const folders = offered.filter(({ path }) => posix.basename(path) === 'config.json').map(({ path }) => posix.dirname(path));
  return folders.flatMap((folder) => {
    const at = (place: string): OfferedFile | undefined => byPath.get(posix.join(folder, place));
    const weights = modelFiles.weights.find((place) => (at(place) ?? at(posix.basename(place))) !== undefined);
    if (weights === undefined || modelFiles.required.some((place) => at(place) === undefined)) return [];
    const plain = [...modelFiles.required, ...modelFiles.optional].flatMap((place) => {
      const file = at(place);
      return file === undefined ? [] : [[place, file] as const];
    });
    const files = new Map([...plain, [weights, (at(weights) ?? at(posix.basename(weights)))!] as const]);
    return [{ folder, files }];
  });
}

async function keepUnknownEmbedder(
  source: ImportSource,
  { folder, files }: OfferedEmbedder,
  signal: AbortSignal | undefined,
): Promise<ImportedModel> {
  const fileName = folder === '.' ? basename(source.path).replace(/\.(zip|whl)$/i, '') : posix.basename(folder);
  const name = freeName('embedder', fileName, source.path);
  const path = importedPath('embedder', name);
  const unfinished = join(dirname(path), `.${name}.${process.pid}.partial`);
  try {
    for (const [place, file] of files) {
      using staged = await StagedFile.of(source, file, signal);
      staged.keepAs(join(unfinished, place));
    }
    mkdirSync(dirname(path), { recursive: true });
    renameSync(unfinished, path);
  } finally {
    removeFromCache(unfinished);
  }
  return { kind: 'embedder', name, path };
}

/** @throws BenchError `bad-data` where another model has the name */
function freeName(kind: ImportedModel['kind'], fileName: string, source: string): string {
  const name = importedName(fileName);
  const isKnown = modelRegistry.some((entry) => entry.name === name);
  if (!isKnown && !existsSync(importedPath(kind, name))) return name;
  throw new BenchError(
    'bad-data',
    `${source}: ${fileName} would be named ${name}, and ${isKnown ? 'the registry has another model' : 'the cache has a model'} of that name`,
    isKnown ? 'give the file another name' : `remove that one first: dki-bench models remove ${name}`,
  );
}
