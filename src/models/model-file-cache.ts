import { existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { moveFile } from '../base/read-remove-rename-files.ts';
import { cacheFolder } from '../config/cache-folder.ts';
import { blobPath, cachedCommit, findHubFile, linkBlob, removeCachedFile, snapshotFolder } from './hub/hub-cache.ts';
import { parseHubReference } from './hub/hub-reference.ts';
import { type EmbedderEntry, type ModelEntry, shippedPath } from './model-registry.ts';
import { hubAccess } from './hub/hub-access.ts';

/** A file of an entry of the registry, and its place on this machine. */
export interface ModelFile {
  readonly entry: ModelEntry;
  /** Path in the embedder's folder; file name of a language model. */
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Python packages that contain it, or its parts in order; empty if none is known. `scripts/real-models.sh` takes it from them. */
  readonly packages: readonly string[];
  /** False if the hub is not known to have these bytes. */
  readonly onHub: boolean;
}

/** Folder of a registry embedder. Not a hub snapshot, since files may come from several sources. */
export function embedderFolder(entry: EmbedderEntry): string {
  return shippedPath(entry) ?? join(cacheFolder(), 'embedders', entry.name);
}

export function modelFiles(entry: ModelEntry): ModelFile[] {
  if (entry.kind === 'embedder') {
    const folder = embedderFolder(entry);
    return entry.files.map(({ path, package: carrier, ...file }) => ({
      ...file,
      entry,
      name: path,
      path: join(folder, path),
      packages: carrier === undefined ? [] : [carrier],
    }));
  }
  const { sha256, bytes, package: carrier, parts = [], source } = entry;
  const path = shippedPath(entry) ?? hubPlace(source);
  const packages = carrier === undefined ? parts : [carrier];
  return [{ entry, name: basename(source), path, sha256, bytes, onHub: true, packages }];
}

/** Path of a hub file in the cache, whether or not it is there. */
function hubPlace(source: string): string {
  const { file, ...repository } = parseHubReference(source);
  const hub = hubAccess();
  return findHubFile(repository, file!, hub) ?? join(snapshotFolder(repository, hub), file!);
}

/** The files of an entry that this machine does not have, judged by their sizes. */
export function missingFiles(entry: ModelEntry): ModelFile[] {
  return modelFiles(entry).filter(({ path, bytes }) => fileSize(path) !== bytes);
}

/** Undefined if there is no file, or its folder may not be entered. */
function fileSize(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}

export function cacheState(entry: ModelEntry): 'ships' | 'whole' | 'in part' | 'absent' {
  if (shippedPath(entry) !== undefined) return 'ships';
  const missing = missingFiles(entry).length;
  return missing === 0 ? 'whole' : missing === modelFiles(entry).length ? 'absent' : 'in part';
}

/** Moves a complete copy of an entry's file to its place in the cache. */
export function storeModelFile({ entry, path, sha256 }: ModelFile, copy: string): void {
  const hub = hubAccess();
  if (entry.kind === 'embedder' || !path.startsWith(hub.hubCache)) {
    mkdirSync(dirname(path), { recursive: true });
    moveFile(copy, path);
    return;
  }
  const { file, ...repository } = parseHubReference(entry.source);
  const blob = blobPath(repository, sha256, hub);
  mkdirSync(dirname(blob), { recursive: true });
  moveFile(copy, blob);
  linkBlob(repository, { file: file!, blob, commit: cachedCommit(repository, hub) }, hub);
}

/** Deletes the cached files of an entry that dki-bench fetched; `foreign` if another program fetched them. */
export function removeModel(entry: ModelEntry): 'removed' | 'absent' | 'foreign' {
  const files = modelFiles(entry).filter(({ path }) => existsSync(path));
  if (files.length === 0) return 'absent';
  const hub = hubAccess();
  return files.map(({ path }) => removeCachedFile(path, hub)).some(Boolean) ? 'removed' : 'foreign';
}
