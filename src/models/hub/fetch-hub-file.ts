import { BenchError } from '../../base/bench-error.ts';
import { blobPath, cachedCommit, findHubFile, isKnownAbsent, linkBlob, markAbsent } from './hub-cache.ts';
import type { HubRepository } from './hub-reference.ts';
import { describeRemoteFile } from './describe-remote-file.ts';
import type { FileChecksum } from './file-checksum.ts';
import type { Server } from './hub-request.ts';
import type { HubAccess } from './hub-access.ts';
import { type DownloadOptions, downloadFile } from './download-file.ts';

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
  if (isKnownAbsent(repository, file, hub)) return undefined;
  // The cached commit, so that all files of a snapshot are of one commit.
  const revision = cachedCommit(repository, hub);
  const remote = await describeRemoteFile(fileAddress({ ...repository, revision }, file, hub), hub, options);
  if (remote === undefined) {
    markAbsent(repository, file, hub);
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
