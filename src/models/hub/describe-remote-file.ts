import { createHash } from 'node:crypto';
import { BenchError } from '../../base/bench-error.ts';
import type { FileChecksum } from './file-checksum.ts';
import { COMMIT } from './hub-reference.ts';
import { type WaitOptions, type Server, idleTimeout, send, requireNoPage, refused, mirrorHint } from './hub-request.ts';

const MAX_REDIRECTIONS = 5;

export interface RemoteFile {
  readonly address: string;
  readonly sizeBytes: number;
  /** Missing if the server states none that could be verified. */
  readonly checksum?: FileChecksum;
  /** Distinguishes versions of the file, in hex. */
  readonly version: string;
  /** The commit to which the hub resolved the revision. */
  readonly commit?: string | undefined;
}

/**
 * Asks the hub for size and checksum of a file; undefined if there is no such file.
 * @throws BenchError `network` if the hub does not answer, refuses, or gives no checksum
 */
export async function describeRemoteFile(address: string, hub: Server, options: WaitOptions = {}) {
  using timeout = idleTimeout(options);
  let place = address;
  let commit: string | undefined;
  for (let count = 0; count <= MAX_REDIRECTIONS; count++) {
    const response = await send(place, hub, { method: 'HEAD', redirect: 'manual' }, timeout);
    const { status, headers } = response;
    if (status === 404) return undefined;
    const location = Math.floor(status / 100) === 3 ? headers.get('location') : null;
    if (location === null && !response.ok) throw refused(address, status, hub);
    // Checksums are trusted only from the hub itself, not from servers that it redirects to.
    if (new URL(place).origin !== new URL(hub.endpoint).origin) throw unverifiable(address);
    commit ??= commitOf(response);
    if (headers.has('x-linked-etag') || location === null) return { ...describe(address, response), commit };
    place = redirection(location, place, address);
  }
  throw new BenchError('network', `${address}: redirected in a circle`, mirrorHint(hub));
}

/** The commit that a hub names. It becomes the name of a folder, so it must look like one. */
function commitOf({ headers }: Response): string | undefined {
  return COMMIT.exec(headers.get('x-repo-commit') ?? '')?.[0];
}

/** Resolves a redirection. @throws BenchError `network` if it is not a web address */
function redirection(location: string, place: string, address: string): string {
  const next = URL.canParse(location, place) ? new URL(location, place) : undefined;
  if (next?.protocol === 'https:' || next?.protocol === 'http:') return next.href;
  throw new BenchError('network', `${address}: redirected to an invalid web address`, 'check HF_ENDPOINT');
}

function describe(address: string, { headers }: Response): RemoteFile {
  const tag = headers.get('x-linked-etag') ?? headers.get('etag') ?? '';
  const sizeBytes = Number(headers.get('x-linked-size') ?? headers.get('content-length') ?? Number.NaN);
  const value = /^(?:W\/)?"?([0-9a-f]{40}|[0-9a-f]{64})"?$/.exec(tag)?.[1];
  if (value === undefined || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw unverifiable(address);
  const kind = value.length === 64 ? 'sha-256' : 'git blob';
  return { address, sizeBytes, checksum: { kind, value }, version: value };
}

function unverifiable(address: string): BenchError {
  return new BenchError(
    'network',
    `${address}: the server gives no length or no checksum, so the file could not be verified`,
    'set HF_ENDPOINT to a hub that does, or fetch the file yourself and name it by its path',
  );
}

/**
 * Asks any server for the size of a file, without a token. The result has no checksum.
 * @throws BenchError `not-found` if the server lacks the file, `network` if it does not answer or states no length
 */
export async function describeFileWithoutChecksum(address: string, options: WaitOptions = {}): Promise<RemoteFile> {
  using timeout = idleTimeout(options);
  const hint = 'give another address with --address URL, or use a local file: --data-file FILE';
  const answer = await send(address, { endpoint: address, token: undefined }, { method: 'HEAD' }, timeout);
  const { ok, status, headers } = answer;
  if (!ok) throw new BenchError('not-found', `${address}: the server answered ${status}`, hint);
  requireNoPage(address, answer);
  const length = headers.get('content-length');
  if (length === null) throw new BenchError('network', `${address}: the server states no length`, hint);
  const tag = headers.get('etag') ?? headers.get('last-modified') ?? '';
  const version = createHash('sha256').update(`${address} ${length} ${tag}`).digest('hex');
  return { address, sizeBytes: Number(length), version };
}
