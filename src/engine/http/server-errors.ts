import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';

const CHECK_SERVER = "see the server's log, and the tested versions in docs/engines.md";
const SHOWN_CHARACTERS = 200;

/** Response body of a refused request. */
export const errorShape = z.object({
  error: z.object({ message: z.string(), type: z.string().nullish() }),
});

/** A server, as named in messages, and its key. */
export interface ServerName {
  readonly url: string;
  readonly program: string;
  /** API key, sent with every request and never shown. */
  readonly key?: string | undefined;
  /** Environment variable of the key; missing if the server takes none. */
  readonly keyVariable?: string;
}

export class ServerErrors {
  readonly #server: ServerName;

  constructor(server: ServerName) {
    this.#server = server;
  }

  unreachable(why: string, cause?: unknown): BenchError {
    const hint = 'start the server, or name another with --engine-url';
    return new BenchError('unreachable', this.#says(`does not answer: ${why}`), hint, cause);
  }

  busy(why: string): BenchError {
    return new BenchError('busy', this.#says(`is busy: ${why}`), 'wait until it is idle, or use another server');
  }

  protocol(why: string, cause?: unknown): BenchError {
    return new BenchError('protocol', this.#says(why), CHECK_SERVER, cause);
  }

  changed(why: string): BenchError {
    const hint = 'resume the run, and until it ends do not restart the server or let others use it';
    return new BenchError('changed', `${this.#server.url}: ${why}`, hint);
  }

  /** The error for a refused request. @param body response body */
  refused(path: string, status: number, body: string): BenchError {
    const { key, keyVariable } = this.#server;
    if ((status === 401 || status === 403) && keyVariable !== undefined) {
      const hint = key === undefined ? `set ${keyVariable}` : `correct ${keyVariable}`;
      // The server's message may contain a part of the key.
      return new BenchError('bad-option', this.#says(`refuses access to ${path} (${status})`), hint);
    }
    const { message, type } = parseRefusal(body);
    const shown = key === undefined ? message : message.replaceAll(key, '…');
    const what = `answers ${path} with ${status}${shown === '' ? '' : `: ${shown}`}`;
    switch (type) {
      case 'exceed_context_size_error':
        return new BenchError('context-overflow', this.#says(what), 'start it with a larger --ctx-size');
      case 'not_supported_error':
        return new BenchError('unsupported', this.#says(what), 'start it with the flags that it names');
      default:
        return this.protocol(what);
    }
  }

  #says(what: string): string {
    return `${this.#server.url}: ${this.#server.program} ${what}`;
  }
}

/** Undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function parseRefusal(body: string) {
  const refusal = errorShape.safeParse(parseJson(body)).data?.error;
  return { message: oneLine(refusal?.message ?? body), type: refusal?.type };
}

function oneLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, SHOWN_CHARACTERS) ?? '';
}

/** Awaits a request; undefined if the server lacks the route, or gives an unexpected response there. */
export async function optional<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof BenchError && (error.code === 'protocol' || error.code === 'unsupported')) return undefined;
    throw error;
  }
}
