import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { type ModelFile, modelFiles, storeModelFile } from '../model-file-cache.ts';
import { type ModelEntry, modelRegistry, shippedPath } from '../model-registry.ts';
import { openImportSource } from './import-source.ts';
import { stageFile } from './stage-file.ts';

/** Weights. If they have name and length of an entry's file but other bytes, they count as damaged. */
const WEIGHTS = /\.(gguf|onnx)$/i;

/**
 * Stores the files of a GGUF file, a folder or an archive that equal a file of the registry, whatever they are called. Reads only
 * files as long as one of the registry.
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
