import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { filesOf, type KeptFile } from '../kept-files.ts';
import { type ModelEntry, modelRegistry, shippedPathOf } from '../registry.ts';
import type { ImportSource, OfferedFile } from './offered-file.ts';
import { StagedFile } from './staged-file.ts';

/** The files of a source by what the registry says of their bytes. */
export interface SortedFiles {
  /** Files of entries, now on this machine. */
  readonly kept: readonly KeptFile[];
  readonly others: readonly OfferedFile[];
}

/** Options of an import. */
export interface ImportOptions {
  /** Default: that of this package. */
  readonly registry?: readonly ModelEntry[];
  readonly signal?: AbortSignal;
}

/** Endings of weights: a file with the name and the length of an entry's, and other bytes, is a damaged one. */
const WEIGHTS = /\.(gguf|onnx)$/i;

/**
 * Keeps those files of a source whose bytes are those of an entry, each at its entry's place, whatever it was called. Files
 * of another length than all that are known are not read.
 * @throws BenchError `bad-data` for a damaged file, `disk`
 */
export async function keepKnownFiles(
  source: ImportSource,
  { registry = modelRegistry, signal }: ImportOptions = {},
): Promise<SortedFiles> {
  const known = registry.flatMap(filesOf);
  const kept: KeptFile[] = [];
  const others: OfferedFile[] = [];
  for (const file of source.files) {
    const candidates = known.filter(({ bytes }) => bytes === file.bytes);
    const found = await keep(source, file, candidates, signal);
    kept.push(...found);
    if (found.length === 0) others.push(file);
  }
  return { kept, others };
}

async function keep(
  source: ImportSource,
  file: OfferedFile,
  candidates: readonly KeptFile[],
  signal: AbortSignal | undefined,
): Promise<KeptFile[]> {
  const found: KeptFile[] = [];
  for (const candidate of candidates) {
    using staged = await StagedFile.of(source, file, signal);
    if (staged.sha256 === candidate.sha256) {
      if (shippedPathOf(candidate.entry) === undefined) staged.keepAs(candidate.path);
      found.push(candidate);
    } else if (WEIGHTS.test(file.path) && basename(file.path) === basename(candidate.name)) {
      throw new BenchError(
        'bad-data',
        `${file.path} of ${source.path}: called and as long as the file of ${candidate.entry.name}, with other bytes: sha-256 ${staged.sha256}, expected ${candidate.sha256}`,
        'it was damaged on its way: fetch it again; to use it as another model, give it another name',
      );
    }
  }
  return found;
}
