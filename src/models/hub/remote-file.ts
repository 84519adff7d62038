import { createHash } from 'node:crypto';
import { BenchError } from '../../base/bench-error.ts';
import { checksumOfTag, type FileChecksum } from './file-checksum.ts';
import type { HubAccess } from './hub-reference.ts';
import { IdleLimit, type WaitOptions } from './idle-limit.ts';

/** Size and checksum of a file of the hub. */
export interface RemoteFile {
  readonly address: string;
  readonly sizeBytes: number;
  readonly checksum: FileChecksum;
}

/** A file of a server that states no checksum which could be verified. */
export interface UnprovenFile extends Pick<RemoteFile, 'address' | 'sizeBytes'> {
  /** Tells versions of the file apart, as far as the server does: in hex. */
  readonly version: string;
}

const MOST_REDIRECTIONS = 5;

/**
 * Asks the hub for size and checksum of a file; undefined if there is no such file.
 * @throws BenchError `network` if the hub does not answer, refuses, or gives no checksum
 */
export async function describeRemoteFile(
  address: string,
  hub: HubAccess,
  options: WaitOptions = {},
): Promise<RemoteFile | undefined> {
  using limit = new IdleLimit(options);
  let place = address;
  for (let count = 0; count <= MOST_REDIRECTIONS; count++) {
    const response = await request(place, hub, { method: 'HEAD', redirect: 'manual' }, limit);
    if (response.status === 404) return undefined;
    const location = response.headers.get('location');
    const isRedirected = response.status >= 300 && response.status < 400 && location !== null;
    if (!isRedirected && !response.ok) throw refused(address, response.status, hub);
    const linked = response.headers.get('x-linked-etag');
    // For a file on another server, only the hub's own answer is trusted.
    const isHub = new URL(place).origin === new URL(hub.endpoint).origin;
    if (isHub && (linked !== null || !isRedirected)) return describe(address, response);
    if (!isHub || location === null) throw unproven(address);
    place = redirection(location, place, address);
  }
  throw new BenchError('network', `${address}: redirected in a circle`, mirrorHint(hub));
}

/** Resolves a redirection. @throws BenchError `network` if it is not a web address */
function redirection(location: string, place: string, address: string): string {
  const next = URL.canParse(location, place) ? new URL(location, place) : undefined;
  if (next?.protocol === 'https:' || next?.protocol === 'http:') return next.href;
  throw new BenchError('network', `${address}: redirected to an invalid web address`, 'check HF_ENDPOINT');
}

function unproven(address: string): BenchError {
  return new BenchError(
    'network',
    `${address}: the server gives no length or no checksum, so the file could not be verified`,
    'set HF_ENDPOINT to a hub that does, or fetch the file yourself and name it by its path',
  );
}

function describe(address: string, { headers }: Response): RemoteFile {
  const tag = headers.get('x-linked-etag') ?? headers.get('etag') ?? '';
  const sizeBytes = Number(headers.get('x-linked-size') ?? headers.get('content-length') ?? Number.NaN);
  const checksum = checksumOfTag(tag);
  if (checksum === undefined || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw unproven(address);
  return { address, sizeBytes, checksum };
}

/**
 * Asks any server for the size of a file, without a token.
 * @throws BenchError `not-found` for a file that it does not give, `network` if it does not answer, or names no length
 */
export async function describeUnprovenFile(address: string, options: WaitOptions = {}): Promise<UnprovenFile> {
  using limit = new IdleLimit(options);
  const hint = 'give another address with --address URL, or bring the file: --data-file FILE';
  const nobody = { endpoint: address, token: undefined };
  const answer = await request(address, nobody, { method: 'HEAD' }, limit);
  const { ok, status, headers } = answer;
  if (!ok) throw new BenchError('not-found', `${address}: the server answered ${status}`, hint);
  requireNoPage(address, answer);
  const length = headers.get('content-length');
  if (length === null) throw new BenchError('network', `${address}: the server names no length`, hint);
  const tag = headers.get('etag') ?? headers.get('last-modified') ?? '';
  const version = createHash('sha256').update(`${address} ${length} ${tag}`).digest('hex');
  return { address, sizeBytes: Number(length), version };
}

/**
 * Sends a request; the token is sent to the hub only.
 * @param limit ends the request, and the reading of its answer, where the server sends nothing
 * @throws BenchError `network` if no server answers; the reason of the signal that cancels the request
 */
export async function request(
  address: string,
  { endpoint, token }: Pick<HubAccess, 'endpoint' | 'token'>,
  { headers, ...options }: RequestInit & { readonly headers?: Readonly<Record<string, string>> },
  limit: IdleLimit,
): Promise<Response> {
  const isHub = new URL(address).origin === new URL(endpoint).origin;
  try {
    const response = await fetch(address, {
      ...options,
      headers: {
        // A compressed file would have another length and another tag.
        'accept-encoding': 'identity',
        ...(isHub && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      signal: limit.signal,
    });
    limit.heard();
    return response;
  } catch (cause) {
    throw brokenOff(address, limit, cause);
  }
}

/** Error for a connection that broke, or on which nothing came. @throws the reason of the signal that cancelled the request */
export function brokenOff(address: string, limit: IdleLimit, cause: unknown): BenchError {
  limit.throwIfCancelled();
  if (!limit.isReached) return unreachable(address, cause);
  return new BenchError(
    'network',
    `${new URL(address).host} sent nothing for ${limit.idleMs / 1000} s`,
    'run it again, which continues the download; or name a local file',
    cause,
  );
}

/** @throws BenchError `network` for a web page in place of a file: of a login, or of a network that must be paid first */
export function requireNoPage(address: string, { headers }: Pick<Response, 'headers'>): void {
  if (!/^text\/html\b/i.test(headers.get('content-type') ?? '')) return;
  throw new BenchError(
    'network',
    `${address}: the server sends a web page in place of the file`,
    'open the address in a browser: it may ask for a login, or the network for consent',
  );
}

/** Error for a server that did not answer, or a broken connection. */
export function unreachable(address: string, cause: unknown): BenchError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : (cause as Error);
  const why = (inner as NodeJS.ErrnoException).code ?? inner.message;
  return new BenchError(
    'network',
    `${new URL(address).host} cannot be reached (${why})`,
    'check the network and run it again, which continues the download; or name a local file',
    cause,
  );
}

/** Error for an answer of the hub without the file. */
export function refused(address: string, status: number, hub: Pick<HubAccess, 'endpoint' | 'token'>): BenchError {
  if (status === 401 || status === 403) {
    const hint =
      hub.token === undefined
        ? 'it may not exist, or be gated: accept its terms on the hub and set HF_TOKEN'
        : 'it may not exist, or HF_TOKEN may not read it: accept its terms on the hub';
    return new BenchError('not-found', `${address}: the hub refuses it (${status})`, hint);
  }
  return new BenchError('network', `${address}: the hub answered ${status}`, mirrorHint(hub));
}

function mirrorHint({ endpoint }: Pick<HubAccess, 'endpoint'>): string {
  return `try again later, or set HF_ENDPOINT to a mirror of ${endpoint}`;
}
