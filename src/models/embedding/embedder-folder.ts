import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { type DownloadOptions, hubFile } from '../hub/hub-file.ts';
import { cacheFolderOf, hubAccess, hubPrefix, parseHubReference } from '../hub/hub-reference.ts';
import { fetchEntry } from '../fetch-entry.ts';
import { embedderFolder } from '../kept-files.ts';
import { embedderNamed } from '../registry.ts';
import { modelFiles } from './model-folder.ts';

/** Marks a folder of the cache that holds all files of its repository. */
const COMPLETE = 'complete';

/**
 * Resolves an embedder's name to a local folder: the files of `hf:org/repo` and of a name of the registry are fetched at the
 * first call and kept; any other name is a folder.
 * @throws BenchError `bad-model` if the repository lacks a file that an embedder needs, `bad-option` for a name of another
 * form; `network`, `not-found`, `disk`, `bad-data` as `hubFile` and `fetchEntry`
 */
export async function embedderFolderOf(name: string, options: DownloadOptions = {}): Promise<string> {
  const entry = embedderNamed(name);
  if (entry !== undefined) {
    await fetchEntry(entry, options);
    return embedderFolder(entry);
  }
  if (!name.startsWith(hubPrefix)) return name;
  const { file, ...repository } = parseHubReference(name);
  if (file !== undefined) {
    throw new BenchError(
      'bad-option',
      `--embedder ${name}: names one file, and an embedder has several`,
      `write ${repository.name}`,
    );
  }
  const hub = hubAccess();
  const folder = cacheFolderOf(repository, hub);
  if (existsSync(join(folder, COMPLETE))) return folder;
  const fetched = (path: string): Promise<string | undefined> => hubFile(repository, path, hub, options);
  const firstOf = async (paths: readonly string[]): Promise<string | undefined> => {
    for (const path of paths) {
      const found = await fetched(path);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const alternatives of [...modelFiles.required.map((path) => [path]), modelFiles.weights]) {
    if ((await firstOf(alternatives)) !== undefined) continue;
    throw new BenchError(
      'bad-model',
      `--embedder ${name}: the hub has no ${alternatives.join(' or ')} there`,
      'check its name, or choose a repository with ONNX weights in the layout of transformers.js',
    );
  }
  for (const path of modelFiles.optional) await fetched(path);
  const unfinished = join(folder, `${COMPLETE}.${process.pid}.partial`);
  writeFileSync(unfinished, '');
  renameSync(unfinished, join(folder, COMPLETE));
  return folder;
}
