import { BenchError } from '../../base/bench-error.ts';
import { failureReason, IdleTimeout, request } from '../../base/http-request.ts';
import type { HubAccess } from './hub-access.ts';

const IDLE_MS = 60_000;

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for a server that sends nothing. Default: 60 s. */
  readonly idleMs?: number | undefined;
}

export type Server = Pick<HubAccess, 'endpoint' | 'token'>;

export function idleTimeout({ idleMs = IDLE_MS, signal }: WaitOptions): IdleTimeout {
  return new IdleTimeout(idleMs, signal);
}

/**
 * Sends a request; the token goes to `endpoint` only, not to servers that it redirects to.
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

export function mirrorHint({ endpoint }: Server): string {
  return `try again later, or set HF_ENDPOINT to a mirror of ${endpoint}`;
}
