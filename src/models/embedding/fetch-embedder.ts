import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { fetchRegisteredModel } from '../fetch-registered-model.ts';
import { fetchHubFile, formerPlace, snapshotFolder } from '../hub/hub-cache.ts';
import { hubPrefix, parseHubReference } from '../hub/hub-reference.ts';
import { embedderFolder } from '../model-file-cache.ts';
import { embedderNamed } from '../model-registry.ts';
import { embedderFiles } from './read-embedder-folder.ts';
import { hubAccess } from '../hub/hub-access.ts';
import type { DownloadOptions } from '../hub/download-file.ts';

/**
 * Resolves an embedder's name to a local folder: the files of `hf:org/repo` and of a name of the registry are fetched at the
 * first call and cached; any other name is a folder.
 * @throws BenchError `bad-model` if the repository lacks a file that an embedder needs, `bad-option` for a name of another
 * form; `network`, `not-found`, `disk`, `bad-data` as `fetchHubFile` and `fetchRegisteredModel`
 */
export async function fetchEmbedder(name: string, options: DownloadOptions = {}): Promise<string> {
  const entry = embedderNamed(name);
  if (entry !== undefined) {
    await fetchRegisteredModel(entry, options);
    return embedderFolder(entry);
  }
  if (!name.startsWith(hubPrefix)) return name;
  const { file, ...repository } = parseHubReference(name);
  if (file !== undefined) {
    const message = `--embedder ${name}: names one file, but an embedder has several`;
    throw new BenchError('bad-option', message, `write ${repository.name}`);
  }
  const hub = hubAccess();
  // Version 0.1 marked complete folders with a file.
  const former = formerPlace(repository, 'complete', hub);
  if (existsSync(former)) return dirname(former);
  for (const alternatives of [...embedderFiles.required.map((path) => [path]), embedderFiles.weights]) {
    let found: string | undefined;
    for (const path of alternatives) found ??= await fetchHubFile(repository, path, hub, options);
    if (found !== undefined) continue;
    throw new BenchError(
      'bad-model',
      `--embedder ${name}: the repository has no ${alternatives.join(' or ')}`,
      'check its name, or choose a repository with ONNX weights in the layout of transformers.js',
    );
  }
  for (const path of embedderFiles.optional) await fetchHubFile(repository, path, hub, options);
  return snapshotFolder(repository, hub);
}
