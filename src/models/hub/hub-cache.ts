import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { describeRemoteFile } from './describe-remote-file.ts';
import { type DownloadOptions, downloadFile } from './download-file.ts';
import type { FileChecksum } from './file-checksum.ts';
import type { HubAccess } from './hub-access.ts';
import { COMMIT, type HubRepository } from './hub-reference.ts';
import type { Server } from './hub-request.ts';

/**
 * The cache of Hugging Face's own tools, which dki-bench shares:
 * `models--org--repo/{blobs/CHECKSUM, refs/REVISION, snapshots/COMMIT/path → blob, .no_exist/COMMIT/path}`.
 * @see https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */

function repositoryFolder({ organisation, repository }: HubRepository, { hubCache }: HubAccess): string {
  return join(hubCache, `models--${organisation}--${repository}`);
}

/** The cached commit of a revision; the revision itself if none is cached. */
export function cachedCommit(repository: HubRepository, hub: HubAccess): string {
  const ref = join(repositoryFolder(repository, hub), 'refs', repository.revision);
  return existsSync(ref) ? readFileSync(ref, 'utf8').trim() : repository.revision;
}

export function snapshotFolder(repository: HubRepository, hub: HubAccess): string {
  return join(repositoryFolder(repository, hub), 'snapshots', cachedCommit(repository, hub));
}

/** Place of a file in the cache of version 0.1. */
export function formerPlace({ organisation, repository, revision }: HubRepository, file: string, hub: HubAccess) {
  const folder = revision === 'main' ? repository : `${repository}@${revision}`;
  return join(hub.ownCache, 'models', organisation, folder, file);
}

/** Path of a cached file, of this or an earlier version's layout; undefined if it is not cached. */
export function findHubFile(repository: HubRepository, file: string, hub: HubAccess): string | undefined {
  const places = [join(snapshotFolder(repository, hub), file)];
  if (/\.gguf$/i.test(file)) places.push(formerPlace(repository, file, hub));
  return places.find((path) => existsSync(path));
}

/**
 * Finds a hub file in the cache, or fetches it. Partial downloads continue; only complete, verified files get their
 * name.
 * @param expected checksum that the file must have; by default the hub's own
 * @returns its path; undefined if the hub has no such file
 * @throws BenchError `network`, `not-found` if the hub refuses it or has other bytes, `disk`, `bad-data` for damage in
 * transfer
 */
export async function fetchHubFile(
  repository: HubRepository,
  file: string,
  hub: HubAccess,
  { expected, ...options }: DownloadOptions & { readonly expected?: FileChecksum } = {},
): Promise<string | undefined> {
  const found = findHubFile(repository, file, hub);
  if (found !== undefined) return found;
  const absenceMark = join(repositoryFolder(repository, hub), '.no_exist', cachedCommit(repository, hub), file);
  if (existsSync(absenceMark)) return undefined;
  // The cached commit, so that all files of a snapshot are of one commit.
  const revision = cachedCommit(repository, hub);
  const remote = await describeRemoteFile(fileAddress({ ...repository, revision }, file, hub), hub, options);
  if (remote === undefined) {
    // So that the hub is asked only once. Not if this would be the only file of the commit in the cache.
    if (existsSync(snapshotFolder(repository, hub))) writeInFolder(absenceMark, '');
    return undefined;
  }
  const name = `${repository.organisation}/${repository.repository}/${file}`;
  if (expected !== undefined && remote.checksum?.kind === expected.kind && remote.checksum.value !== expected.value) {
    const message = `${name}: the hub has other bytes than the registry states`;
    throw new BenchError('not-found', message, 'see docs/models.md');
  }
  const checksum = expected ?? remote.checksum!;
  const blob = blobPath(repository, remote.version, hub);
  await downloadFile({ ...remote, checksum }, blob, { ...options, name, hub, partial: `${blob}.incomplete` });
  return linkBlob(repository, { file, blob, commit: remote.commit ?? revision }, hub);
}

export function fileAddress({ organisation, repository, revision }: HubRepository, file: string, { endpoint }: Server) {
  return `${endpoint}/${organisation}/${repository}/resolve/${revision}/${file}`;
}

export function blobPath(repository: HubRepository, checksum: string, hub: HubAccess): string {
  return join(repositoryFolder(repository, hub), 'blobs', checksum);
}

/** Links a blob as a file of a commit, and records that dki-bench fetched it. @returns the file's path */
export function linkBlob(
  repository: HubRepository,
  { file, blob, commit }: { readonly file: string; readonly blob: string; readonly commit: string },
  hub: HubAccess,
): string {
  const folder = repositoryFolder(repository, hub);
  const path = join(folder, 'snapshots', commit, file);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  try {
    symlinkSync(relative(dirname(path), blob), path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Windows needs a privilege for links; there Hugging Face's tools move the file as well.
    if (code === 'EPERM') renameSync(blob, path);
    else if (code !== 'EEXIST') throw error;
  }
  if (!COMMIT.test(repository.revision)) {
    writeInFolder(join(folder, 'refs', repository.revision), commit);
  }
  mkdirSync(hub.ownCache, { recursive: true });
  appendFileSync(fetchedList(hub), `${path}\n`);
  return path;
}

function writeInFolder(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Path of the list of files that dki-bench fetched into the shared cache. */
function fetchedList({ ownCache }: HubAccess): string {
  return join(ownCache, 'fetched.txt');
}

/** Deletes a cached file and its blob if dki-bench fetched it. @returns false if another program did */
export function removeCachedFile(path: string, hub: HubAccess): boolean {
  if (!path.startsWith(hub.hubCache + sep)) {
    rmSync(path, { recursive: true, force: true });
    removeEmptyFolders(dirname(path), hub.ownCache);
    return true;
  }
  const list = fetchedList(hub);
  const fetched = (): string[] => (existsSync(list) ? readFileSync(list, 'utf8').split('\n') : []);
  if (!fetched().includes(path)) return false;
  const folder = join(hub.hubCache, relative(hub.hubCache, path).split(sep)[0]!);
  const blob = linkTarget(path);
  rmSync(path, { force: true });
  const others = readdirSync(join(folder, 'snapshots'), { recursive: true, encoding: 'utf8' });
  if (blob !== undefined && !others.some((name) => linkTarget(join(folder, 'snapshots', name)) === blob)) {
    rmSync(blob, { force: true });
  }
  removeEmptyFolders(dirname(path), folder);
  const left = ['blobs', 'snapshots'].map((name) => join(folder, name)).filter((place) => existsSync(place));
  const hasFiles = left.some((place) =>
    readdirSync(place, { recursive: true, withFileTypes: true }).some((entry) => !entry.isDirectory()),
  );
  if (!hasFiles) rmSync(folder, { recursive: true, force: true });
  // Read again: another process may have added a line since.
  writeFileSync(
    list,
    fetched()
      .filter((one) => one !== path)
      .join('\n'),
  );
  return true;
}

function linkTarget(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}

function removeEmptyFolders(from: string, top: string): void {
  for (let folder = from; folder.startsWith(top) && folder !== top; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}
