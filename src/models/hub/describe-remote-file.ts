import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../../base/bench-error.ts';
import { failureReason, IdleTimeout, request } from '../../base/http-request.ts';
import type { HubAccess } from './hub-cache.ts';

const IDLE_MS = 60_000;
const MAX_REDIRECTIONS = 5;

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time after which a server that sends nothing is given up. Default: 60 s. */
  readonly idleMs?: number | undefined;
}

/** Checksum of a file, as the hub states it. */
export interface FileChecksum {
  /** Large files have a sha-256; small ones a git blob, the sha-1 of their length and bytes. */
  readonly kind: 'sha-256' | 'git blob';
  /** In hex. */
  readonly value: string;
}

export interface RemoteFile {
  readonly address: string;
  readonly sizeBytes: number;
  /** Missing if the server states none that could be verified. */
  readonly checksum?: FileChecksum;
  /** Distinguishes versions of the file, in hex. */
  readonly version: string;
  /** The commit that a hub has resolved the revision to. */
  readonly commit?: string | undefined;
}

/** Server that is asked, and the token for it. */
export type Server = Pick<HubAccess, 'endpoint' | 'token'>;

export async function fileChecksum(path: string, kind: FileChecksum['kind'] = 'sha-256'): Promise<string> {
  const hash = createHash(kind === 'sha-256' ? 'sha256' : 'sha1');
  if (kind === 'git blob') hash.update(`blob ${statSync(path).size}\0`);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export function idleTimeout({ idleMs = IDLE_MS, signal }: WaitOptions): IdleTimeout {
  return new IdleTimeout(idleMs, signal);
}

/**
 * Sends a request; the token goes to the hub only.
 * @throws BenchError `network` if the server does not answer; the reason of the signal that cancels the request
 */
export async function send(
  address: string,
  { endpoint, token }: Server,
  { headers, ...options }: RequestInit & { readonly headers?: Readonly<Record<string, string>> },
  timeout: IdleTimeout,
): Promise<Response> {
  const isHub = new URL(address).origin === new URL(endpoint).origin;
  const authorization = isHub && token !== undefined ? { authorization: `Bearer ${token}` } : {};
  try {
    // A compressed file would have another length and another tag.
    const sent = { ...options, headers: { 'accept-encoding': 'identity', ...authorization, ...headers } };
    return await request(address, sent, timeout);
  } catch (cause) {
    throw connectionError(address, timeout, cause);
  }
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
    // For a file on another server, only the hub's own answer is trusted.
    if (new URL(place).origin !== new URL(hub.endpoint).origin) throw unverifiable(address);
    commit ??= headers.get('x-repo-commit') ?? undefined;
    if (headers.has('x-linked-etag') || location === null) return { ...describe(address, response), commit };
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
 * Asks any server for the size of a file, without a token; the file has no checksum.
 * @throws BenchError `not-found` if the server does not have the file, `network` if it does not answer, or names no length
 */
export async function describeUnprovenFile(address: string, options: WaitOptions = {}): Promise<RemoteFile> {
  using timeout = idleTimeout(options);
  const hint = 'give another address with --address URL, or bring the file: --data-file FILE';
  const answer = await send(address, { endpoint: address, token: undefined }, { method: 'HEAD' }, timeout);
  const { ok, status, headers } = answer;
  if (!ok) throw new BenchError('not-found', `${address}: the server answered ${status}`, hint);
  requireNoPage(address, answer);
  const length = headers.get('content-length');
  if (length === null) throw new BenchError('network', `${address}: the server names no length`, hint);
  const tag = headers.get('etag') ?? headers.get('last-modified') ?? '';
  const version = createHash('sha256').update(`${address} ${length} ${tag}`).digest('hex');
  return { address, sizeBytes: Number(length), version };
}

/** Error for a connection that broke or timed out. @throws the reason of the signal that cancelled the request */
export function connectionError(address: string, timeout: IdleTimeout, cause: unknown): BenchError {
  const again = 'run it again, which continues the download; or name a local file';
  const { host } = new URL(address);
  if (timeout.isReached) {
    return new BenchError('network', `${host} sent nothing for ${timeout.idleMs / 1000} s`, again, cause);
  }
  timeout.signal.throwIfAborted();
  const message = `${host} cannot be reached (${failureReason(cause)})`;
  return new BenchError('network', message, `check the network and ${again}`, cause);
}

/** @throws BenchError `network` for a web page instead of a file: a login, or a network that asks for consent */
export function requireNoPage(address: string, { headers }: Pick<Response, 'headers'>): void {
  if (!/^text\/html\b/i.test(headers.get('content-type') ?? '')) return;
  throw new BenchError(
    'network',
    `${address}: the server sends a web page in place of the file`,
    'open the address in a browser: it may ask for a login, or the network for consent',
  );
}

/** Error for an answer of the hub without the file. */
export function refused(address: string, status: number, hub: Server): BenchError {
  if (status !== 401 && status !== 403) {
    return new BenchError('network', `${address}: the hub answered ${status}`, mirrorHint(hub));
  }
  const hint =
    hub.token === undefined
      ? 'it may not exist, or be gated: accept its terms on the hub and set HF_TOKEN'
      : 'it may not exist, or HF_TOKEN may not read it: accept its terms on the hub';
  return new BenchError('not-found', `${address}: the hub refuses it (${status})`, hint);
}

function mirrorHint({ endpoint }: Server): string {
  return `try again later, or set HF_ENDPOINT to a mirror of ${endpoint}`;
}
