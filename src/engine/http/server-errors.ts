import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';

const CHECK_SERVER = 'see the log of the server, and its version in docs/engines.md';
const SHOWN_CHARACTERS = 200;

/** The response of a server that refuses a request. */
export const errorShape = z.object({
  error: z.object({ message: z.string(), type: z.string().nullish() }),
});

/** A server, for messages. */
export interface ServerName {
  readonly url: string;
  readonly program: string;
  /** Sent with every request, and never shown in a message. */
  readonly key?: string | undefined;
  /** The environment variable of the key; missing where the server takes none. */
  readonly keyVariable?: string;
}

export class ServerErrors {
  readonly #server: ServerName;

  constructor(server: ServerName) {
    this.#server = server;
  }

  unreachable(why: string, cause?: unknown): BenchError {
    const hint = 'start the server, or name another: --engine-url';
    return new BenchError('unreachable', this.#says(`does not answer: ${why}`), hint, cause);
  }

  busy(why: string): BenchError {
    return new BenchError('busy', this.#says(`is busy: ${why}`), 'wait until it is idle, or use one of your own');
  }

  protocol(why: string, cause?: unknown): BenchError {
    return new BenchError('protocol', this.#says(why), CHECK_SERVER, cause);
  }

  changed(why: string): BenchError {
    const hint = 'leave the server to this run alone, do not restart it meanwhile, and resume the run';
    return new BenchError('changed', `${this.#server.url}: ${why}`, hint);
  }

  /** The error for a refused request. @param body of the response */
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
        return new BenchError('context-overflow', this.#says(what), 'start it with more --ctx-size');
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

function parseRefusal(body: string): { readonly message: string; readonly type: string | null | undefined } {
  try {
    const { error } = errorShape.parse(JSON.parse(body));
    return { message: oneLine(error.message), type: error.type };
  } catch {
    return { message: oneLine(body), type: undefined };
  }
}

function oneLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, SHOWN_CHARACTERS) ?? '';
}

/** The answer to a request; undefined where the server has no such route, or gives an unexpected response there. */
export async function optional<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof BenchError && (error.code === 'protocol' || error.code === 'unsupported')) return undefined;
    throw error;
  }
}
