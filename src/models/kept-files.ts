import { existsSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cacheFolder } from '../config/cache-folder.ts';
import { cacheFolderOf, parseHubReference } from './hub/hub-reference.ts';
import { type EmbedderEntry, type ModelEntry, shippedPathOf } from './registry.ts';

/** A file of an entry of the registry, and where this machine keeps it. */
export interface KeptFile {
  readonly entry: ModelEntry;
  /** Its place in the entry: of a language model the name of the file. */
  readonly name: string;
  readonly path: string;
  /** In hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** The Python package that carries it. */
  readonly package?: string;
  /** False where its source on a hub is not known to have these bytes. */
  readonly onHub: boolean;
}

/** The state of an entry's files on this machine. */
export type KeptState = 'ships' | 'whole' | 'in part' | 'absent';

/** The folder of everything that hubs gave, by their own places. */
function hubCacheFolder(): string {
  return join(cacheFolder(), 'models');
}

/** The folder of an embedder of the registry. */
export function embedderFolder(entry: EmbedderEntry): string {
  return shippedPathOf(entry) ?? join(cacheFolder(), 'embedders', entry.name);
}

/** The files of an entry. A language model lies where `hubFile` keeps it. */
export function filesOf(entry: ModelEntry): KeptFile[] {
  if (entry.kind === 'embedder') {
    const folder = embedderFolder(entry);
    return entry.files.map(({ path, ...file }) => ({ ...file, entry, name: path, path: join(folder, path) }));
  }
  const { sha256, bytes, package: carrier, source } = entry;
  const facts = { entry, name: basename(source), sha256, bytes, onHub: true, ...(carrier === undefined ? {} : { package: carrier }) };
  return [{ ...facts, path: shippedPathOf(entry) ?? hubPathOf(source) }];
}

function hubPathOf(source: string): string {
  const { file, ...repository } = parseHubReference(source);
  return join(cacheFolderOf(repository, { cacheFolder: hubCacheFolder() }), file!);
}

/** The files of an entry that this machine does not have, by their sizes. */
export function missingFilesOf(entry: ModelEntry): KeptFile[] {
  return filesOf(entry).filter(({ path, bytes }) => statSync(path, { throwIfNoEntry: false })?.size !== bytes);
}

export function keptStateOf(entry: ModelEntry): KeptState {
  if (shippedPathOf(entry) !== undefined) return 'ships';
  const missing = missingFilesOf(entry).length;
  return missing === 0 ? 'whole' : missing === filesOf(entry).length ? 'absent' : 'in part';
}

/** Deletes what the cache has of an entry; false where it has nothing. */
export function removeKept(entry: ModelEntry): boolean {
  const files = filesOf(entry).filter(({ path }) => existsSync(path));
  for (const { path } of files) removeFromCache(path);
  return files.length > 0;
}

/** Deletes a file or folder of the cache, and the folders above it that it leaves empty. */
export function removeFromCache(path: string): void {
  rmSync(path, { recursive: true, force: true });
  const top = cacheFolder();
  for (let folder = dirname(path); folder.startsWith(top) && folder !== top; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      // Not empty.
      return;
    }
  }
}
