import { statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../cache-folder.ts';
import type { EmbedderEntry } from './registry.ts';

/** The folder of an embedder of the registry in the cache. */
export function keptEmbedderFolder({ name }: EmbedderEntry): string {
  return join(cacheFolder(), 'embedders', name);
}

/** The files of an embedder that its folder lacks, by their places in it. */
export function missingFiles(entry: EmbedderEntry): EmbedderEntry['files'] {
  const folder = keptEmbedderFolder(entry);
  return entry.files.filter(({ path, bytes }) => {
    return statSync(join(folder, path), { throwIfNoEntry: false })?.size !== bytes;
  });
}
