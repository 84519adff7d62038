import { BenchError } from '../bench-error.ts';
import { checksumOfTag, type FileChecksum } from './file-checksum.ts';
import type { HubAccess } from './hub-reference.ts';

/** A file of the hub before it is fetched. */
export interface RemoteFile {
  readonly address: string;
  readonly sizeBytes: number;
  readonly checksum: FileChecksum;
}

const MOST_REDIRECTIONS = 5;

/**
 * Asks the hub for the length and the checksum of a file; undefined where there is no such file.
 * @throws BenchError `network` where the hub does not answer, refuses, or gives no checksum
 */
export async function describeRemoteFile(
  address: string,
  hub: HubAccess,
  signal?: AbortSignal,
): Promise<RemoteFile | undefined> {
  let place = address;
  for (let count = 0; count <= MOST_REDIRECTIONS; count++) {
    const response = await request(place, hub, { method: 'HEAD', redirect: 'manual' }, signal);
    if (response.status === 404) return undefined;
    const location = response.headers.get('location');
    const isRedirected = response.status >= 300 && response.status < 400 && location !== null;
    if (!isRedirected && !response.ok) throw refused(address, response.status, hub);
    const linked = response.headers.get('x-linked-etag');
    // Where the file lies on another server, only the hub's own answer says what it must come to.
    const isHub = new URL(place).origin === new URL(hub.endpoint).origin;
    if (isHub && (linked !== null || !isRedirected)) return describe(address, response);
    if (!isHub || location === null) throw unproven(address);
    place = redirection(location, place, address);
  }
  throw new BenchError('network', `${address}: redirected in a circle`, mirrorHint(hub));
}

/** @throws BenchError `network` for what is no address of the web */
function redirection(location: string, place: string, address: string): string {
  const next = URL.canParse(location, place) ? new URL(location, place) : undefined;
  if (next?.protocol === 'https:' || next?.protocol === 'http:') return next.href;
  throw new BenchError('network', `${address}: redirected to no address of the web`, 'check HF_ENDPOINT');
}

function unproven(address: string): BenchError {
  return new BenchError(
    'network',
    `${address}: the server says neither length nor checksum, so that nothing could be proved of it`,
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
 * A request to the hub; the token goes to no other server.
 * @throws BenchError `network` where nobody answers; the reason of `signal` where it ends the request
 */
export async function request(
  address: string,
  { endpoint, token }: HubAccess,
  { headers, ...options }: RequestInit & { readonly headers?: Readonly<Record<string, string>> },
  signal?: AbortSignal,
): Promise<Response> {
  const isHub = new URL(address).origin === new URL(endpoint).origin;
  try {
    return await fetch(address, {
      ...options,
      headers: {
        // Compressed, a file would have another length and another tag.
        'accept-encoding': 'identity',
        ...(isHub && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw unreachable(address, cause);
  }
}

/** Nobody answered, or the line broke. */
export function unreachable(address: string, cause: unknown): BenchError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : (cause as Error);
  const why = (inner as NodeJS.ErrnoException).code ?? inner.message;
  return new BenchError(
    'network',
    `${new URL(address).host} cannot be reached (${why})`,
    'check the network and run it again, which goes on where it ended; or name a file of this machine',
    cause,
  );
}

/** The hub answered, and not with the file. */
export function refused(address: string, status: number, hub: HubAccess): BenchError {
  if (status === 401 || status === 403) {
    const hint =
      hub.token === undefined
        ? 'it may not exist, or be gated: accept its terms on the hub and set HF_TOKEN'
        : 'it may not exist, or HF_TOKEN may not read it: accept its terms on the hub';
    return new BenchError('not-found', `${address}: the hub refuses it (${status})`, hint);
  }
  return new BenchError('network', `${address}: the hub answered ${status}`, mirrorHint(hub));
}

function mirrorHint({ endpoint }: HubAccess): string {
  return `try again later, or set HF_ENDPOINT to a mirror of ${endpoint}`;
}
