import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { modelFiles, type ModelFile, storeModelFile } from '../model-files.ts';
import { type ModelEntry, modelRegistry, shippedPath } from '../registry.ts';
import type { ImportSource, OfferedFile } from './import-source.ts';
import { StagedFile } from './staged-file.ts';

/** Files of weights: one with the name and the length of an entry's file but other bytes is damaged. */
const WEIGHTS = /\.(gguf|onnx)$/i;

/** The files of a source, divided by whether the registry knows their bytes. */
export interface ImportedFiles {
  /** Files of entries, now in the cache. */
  readonly known: readonly ModelFile[];
  readonly others: readonly OfferedFile[];
}

/** Options of an import. */
export interface ImportOptions {
  /** Default: that of this package. */
  readonly registry?: readonly ModelEntry[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Stores those files of a source whose bytes are those of an entry, each at its entry's place, whatever it was called. Only
 * files as long as one of the registry are read.
 * @throws BenchError `bad-data` for a damaged file, `disk`
 */
export async function importKnownFiles(
  source: ImportSource,
  { registry = modelRegistry, signal }: ImportOptions = {},
): Promise<ImportedFiles> {
  const candidates = registry.flatMap(modelFiles);
  const known: ModelFile[] = [];
  const others: OfferedFile[] = [];
  for (const file of source.files) {
    const before = known.length;
    for (const candidate of candidates.filter(({ bytes }) => bytes === file.bytes)) {
      using staged = await StagedFile.copy(source, file, signal);
      if (staged.sha256 === candidate.sha256) {
        if (shippedPath(candidate.entry) === undefined) storeModelFile(candidate, staged.path);
        known.push(candidate);
      } else requireOtherName(source, file, candidate, staged.sha256);
    }
    if (known.length === before) others.push(file);
  }
  return { known, others };
}

/** @throws BenchError `bad-data` for weights called like those of an entry */
function requireOtherName({ path }: ImportSource, file: OfferedFile, candidate: ModelFile, sha256: string): void {
  if (!WEIGHTS.test(file.path) || basename(file.path) !== basename(candidate.name)) return;
  throw new BenchError(
    'bad-data',
    `${file.path} of ${path}: named and sized like the file of ${candidate.entry.name}, with other bytes: sha-256 ${sha256}, expected ${candidate.sha256}`,
    'it was damaged in transfer: fetch it again; to use it as another model, give it another name',
  );
}
