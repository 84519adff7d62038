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
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { cacheFolder } from '../../config/cache-folder.ts';
import type { HubRepository } from './hub-reference.ts';

/**
 * The cache of Hugging Face's own tools, which dki-bench shares:
 * `models--org--repo/{blobs/CHECKSUM, refs/REVISION, snapshots/COMMIT/path → blob, .no_exist/COMMIT/path}`.
 * @see https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */

const DEFAULT_ENDPOINT = 'https://huggingface.co';
const COMMIT = /^[0-9a-f]{40}$/;

/** Address, token and caches of the hub, from the environment variables of Hugging Face's tools. */
export type HubAccess = Readonly<ReturnType<typeof hubAccess>>;

/**
 * Reads the hub's settings from the environment. No message contains a token or a URL with a password.
 * @throws BenchError `bad-option` if `HF_ENDPOINT` is not a web address, or `HF_TOKEN` cannot be sent
 */
export function hubAccess(environment: Readonly<Record<string, string | undefined>> = process.env) {
  const value = (name: string): string | undefined => {
    const text = environment[name]?.trim();
    return text === '' ? undefined : text;
  };
  const endpoint = value('HF_ENDPOINT') ?? DEFAULT_ENDPOINT;
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    throw new BenchError('bad-option', `HF_ENDPOINT ${endpoint}: not an address`, `write it as ${DEFAULT_ENDPOINT}`);
  }
  const { username, password } = new URL(endpoint);
  if (username !== '' || password !== '') {
    throw new BenchError('bad-option', 'HF_ENDPOINT names a user or a password', 'give the token as HF_TOKEN instead');
  }
  const token = value('HF_TOKEN');
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new BenchError('bad-option', 'HF_TOKEN is not a token: it has spaces or odd characters', 'set it again');
  }
  const caches = value('XDG_CACHE_HOME') ?? join(homedir(), '.cache');
  const home = value('HF_HOME') ?? join(caches, 'huggingface');
  return {
    endpoint: endpoint.replace(/\/+$/, ''),
    // Sent to the endpoint only, and never written.
    token,
    hubCache: resolve(value('HF_HUB_CACHE') ?? join(home, 'hub')),
    // Up to version 0.1 it had a layout of hub files of its own.
    ownCache: cacheFolder(environment),
  };
}

function repositoryFolder({ organisation, repository }: HubRepository, { hubCache }: HubAccess): string {
  return join(hubCache, `models--${organisation}--${repository}`);
}

/** The commit that the cache has of a revision; the revision itself if it has none. */
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

/** Path of a file in the cache, where Hugging Face's tools or an earlier version of dki-bench put it; undefined if neither did. */
export function findHubFile(repository: HubRepository, file: string, hub: HubAccess): string | undefined {
  const places = [join(snapshotFolder(repository, hub), file)];
  if (/\.gguf$/i.test(file)) places.push(formerPlace(repository, file, hub));
  return places.find((path) => existsSync(path));
}

/** The mark of a file that a commit does not have, so that the hub is asked once. */
function absenceMark(repository: HubRepository, file: string, hub: HubAccess): string {
  return join(repositoryFolder(repository, hub), '.no_exist', cachedCommit(repository, hub), file);
}

export function isKnownAbsent(repository: HubRepository, file: string, hub: HubAccess): boolean {
  return existsSync(absenceMark(repository, file, hub));
}

/** Records that a commit does not have a file, if the cache has other files of the commit. */
export function markAbsent(repository: HubRepository, file: string, hub: HubAccess): void {
  if (!existsSync(snapshotFolder(repository, hub))) return;
  const mark = absenceMark(repository, file, hub);
  mkdirSync(dirname(mark), { recursive: true });
  writeFileSync(mark, '');
}

export function blobPath(repository: HubRepository, checksum: string, hub: HubAccess): string {
  return join(repositoryFolder(repository, hub), 'blobs', checksum);
}

/** Names a blob as a file of a commit, and records that dki-bench has put it there. @returns the file's path */
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
    const ref = join(folder, 'refs', repository.revision);
    mkdirSync(dirname(ref), { recursive: true });
    writeFileSync(ref, commit);
  }
  mkdirSync(hub.ownCache, { recursive: true });
  appendFileSync(fetchedList(hub), `${path}\n`);
  return path;
}

/** The list of the files that dki-bench has put into the shared cache. */
function fetchedList({ ownCache }: HubAccess): string {
  return join(ownCache, 'fetched.txt');
}

/** Deletes a cached file and its blob if dki-bench has put it there. @returns false for a file of another program */
export function removeCachedFile(path: string, hub: HubAccess): boolean {
  if (!path.startsWith(hub.hubCache + sep)) {
    rmSync(path, { recursive: true, force: true });
    removeEmptyFolders(dirname(path), hub.ownCache);
    return true;
  }
  const list = fetchedList(hub);
  const fetched = existsSync(list) ? readFileSync(list, 'utf8').split('\n') : [];
  if (!fetched.includes(path)) return false;
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
  writeFileSync(list, fetched.filter((one) => one !== path).join('\n'));
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
      // Not empty.
      return;
    }
  }
}

/** Name of a repository's files for progress: `org/repo/file`. */
export function displayName({ organisation, repository }: HubRepository, file: string): string {
  return `${organisation}/${repository}/${file}`;
}

/** Name of an embedder whose folder is a snapshot, or any other: that of its repository or folder. */
export function folderName(folder: string): string {
  const snapshot = /[/\\]models--[^/\\]+?--([^/\\]+)[/\\]snapshots[/\\][^/\\]+$/.exec(folder);
  return snapshot?.[1] ?? basename(folder);
}
