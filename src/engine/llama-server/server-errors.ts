import { BenchError } from '../../config/bench-error.ts';
import { errorShape } from './server-shapes.ts';

const CHECK_SERVER = 'see the log of the server, and its version in docs/engines.md';

/** The server cannot be talked to. */
export function unreachable(url: string, why: string, cause?: unknown): BenchError {
  const hint = 'start the server, or name another: --engine-url';
  return new BenchError('unreachable', `${url}: llama-server does not answer: ${why}`, hint, cause);
}

/** The server has too much to do. */
export function busy(url: string, why: string): BenchError {
  return new BenchError(
    'busy',
    `${url}: llama-server is busy: ${why}`,
    'wait until it is idle, or use one of your own',
  );
}

/** The server answers what it must not. */
export function protocol(url: string, why: string, cause?: unknown): BenchError {
  return new BenchError('protocol', `${url}: llama-server ${why}`, CHECK_SERVER, cause);
}

/** The server is not what it was. */
export function changed(url: string, why: string): BenchError {
  const hint = 'let nobody else use or restart the server in the meantime, then resume the run';
  return new BenchError('changed', `${url}: ${why}`, hint);
}

/** What the server says of a request that it refuses. @param body its answer, whatever it is */
export function refused(url: string, path: string, status: number, body: string): BenchError {
  const { message, type } = saidIn(body);
  const what = `answers ${path} with ${status}${message === '' ? '' : `: ${message}`}`;
  switch (type) {
    case 'exceed_context_size_error':
      return new BenchError('context-overflow', `${url}: llama-server ${what}`, 'start it with more --ctx-size');
    case 'not_supported_error':
      return new BenchError('unsupported', `${url}: llama-server ${what}`, 'start it with the flags that it names');
    default:
      return protocol(url, what);
  }
}

function saidIn(body: string): { readonly message: string; readonly type: string | undefined } {
  try {
    const { error } = errorShape.parse(JSON.parse(body));
    return { message: error.message, type: error.type };
  } catch {
    return { message: body.trim().split('\n')[0]?.slice(0, 200) ?? '', type: undefined };
  }
}
