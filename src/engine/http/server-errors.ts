import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';

const CHECK_SERVER = 'see the log of the server, and its version in docs/engines.md';
const SHOWN_CHARACTERS = 200;

/** The answer of a server that refuses a request. */
export const errorShape = z.object({
  error: z.object({ message: z.string(), type: z.string().nullish() }),
});

/** The server that is asked, for messages. */
export interface ServerName {
  readonly url: string;
  /** As messages call it, such as `llama-server`. */
  readonly program: string;
  /** Sent with every request, and shown in none of our messages. */
  readonly key?: string | undefined;
  /** The environment variable that a key is read from; missing where the server takes none. */
  readonly keyVariable?: string;
}

/** The ways in which a server fails, each under its name. */
export class ServerErrors {
  readonly #server: ServerName;

  constructor(server: ServerName) {
    this.#server = server;
  }

  /** It cannot be talked to. */
  unreachable(why: string, cause?: unknown): BenchError {
    const hint = 'start the server, or name another: --engine-url';
    return new BenchError('unreachable', this.#says(`does not answer: ${why}`), hint, cause);
  }

  /** It has too much to do. */
  busy(why: string): BenchError {
    return new BenchError('busy', this.#says(`is busy: ${why}`), 'wait until it is idle, or use one of your own');
  }

  /** It answers what it must not. */
  protocol(why: string, cause?: unknown): BenchError {
    return new BenchError('protocol', this.#says(why), CHECK_SERVER, cause);
  }

  /** It is not what it was. */
  changed(why: string): BenchError {
    const hint = 'let nobody else use or restart the server in the meantime, then resume the run';
    return new BenchError('changed', `${this.#server.url}: ${why}`, hint);
  }

  /** Its message about a request that it refuses. @param body its answer, whatever it is */
  refused(path: string, status: number, body: string): BenchError {
    const { key, keyVariable } = this.#server;
    if ((status === 401 || status === 403) && keyVariable !== undefined) {
      const hint = key === undefined ? `set ${keyVariable}` : `correct ${keyVariable}`;
      // What it says may hold a part of the key.
      return new BenchError('bad-option', this.#says(`refuses access to ${path} (${status})`), hint);
    }
    const { message, type } = saidIn(body);
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

function saidIn(body: string): { readonly message: string; readonly type: string | null | undefined } {
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
