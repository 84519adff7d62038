import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { AnswerTooLong, failureReason, IdleTimeout, isLocalUrl } from '../../base/http-request.ts';
import { readText, request, retryAfterMs } from '../../base/http-request.ts';
import type { CallOptions, Retry } from '../engine-session.ts';
import { errorShape, parseJson, ServerErrors, type ServerName } from './server-errors.ts';

/** Limits on waiting for a server and on the size of its answers. */
export interface Patience {
  /** How long to retry while a server is busy or refuses connections. */
  readonly waitMs: number;
  /** Longest time without a byte. */
  readonly silenceMs: number;
  /** How long its counters may take to agree with its answers. */
  readonly settleMs: number;
  /** Longest time for a whole answer. */
  readonly answerMs: number;
  readonly answerBytes: number;
}

const DEFAULT_PATIENCE: Patience = {
  waitMs: 20_000,
  silenceMs: 50_000,
  settleMs: 2000,
  answerMs: 1_800_000,
  // Listing the likeliest tokens at each position of a long prompt takes half of this.
  answerBytes: 2 ** 28,
};
const MAX_ERROR_BYTES = 2 ** 20;
const FIRST_PAUSE_MS = 250;
/** HTTP statuses to retry: too many requests, and still loading the model. */
const RETRIED = [429, 503];
/** Last event of an OpenAI stream; other streams end with the connection. */
const LAST_EVENT = '[DONE]';
const CUT_OFF = 'the answer was cut off';

export interface RequestOptions extends CallOptions {
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** HTTP connection to a model server. Checks every answer, and retries for a limited time while the server is busy. */
export class ServerConnection {
  readonly url: string;
  readonly errors: ServerErrors;
  readonly patience: Patience;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(server: ServerName, patience: Patience = DEFAULT_PATIENCE) {
    this.url = server.url.replace(/\/+$/, '');
    this.errors = new ServerErrors({ ...server, url: this.url });
    this.patience = patience;
    this.#headers = {
      'content-type': 'application/json',
      // Some servers bind one of few threads to each open connection, so an idle one would block other clients.
      connection: 'close',
      ...(server.key === undefined ? {} : { authorization: `Bearer ${server.key}` }),
    };
  }

  /** @throws BenchError `unreachable`, `busy`, `protocol`, `unsupported`, `context-overflow` */
  async get<Shape extends z.ZodType>(path: string, shape: Shape, options?: RequestOptions): Promise<z.output<Shape>> {
    return this.#parsed(shape, path, await this.text(path, undefined, options));
  }

  async post<Shape extends z.ZodType>(path: string, body: unknown, shape: Shape, options?: RequestOptions) {
    return this.#parsed(shape, path, await this.text(path, body, options));
  }

  /** Returns the answer as text. @param body undefined: GET, else POST */
  async text(path: string, body?: unknown, options: RequestOptions = {}): Promise<string> {
    using timeout = this.#timeout(options);
    const response = await this.#answer(path, body, timeout, options);
    try {
      return await readText(response, timeout, this.patience.answerBytes);
    } catch (error) {
      throw this.#named(error, timeout, options.signal, CUT_OFF);
    }
  }

  /**
   * Yields the events of an answer as they arrive. Leaving the loop closes the connection.
   * @throws BenchError as `get`; `unreachable` if the connection breaks
   */
  async *stream<Shape extends z.ZodType>(
    path: string,
    body: unknown,
    shape: Shape,
    options: RequestOptions = {},
  ): AsyncGenerator<z.output<Shape>, void> {
    using timeout = this.#timeout(options);
    const response = await this.#answer(path, body, timeout, options);
    const { createParser } = await import('eventsource-parser');
    const events: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
    const decoder = new TextDecoder();
    // Not `for await`: leaving its loop rejects if the stream was aborted.
    const reader = response.body!.getReader();
    const { answerBytes } = this.patience;
    let bytesLeft = answerBytes;
    try {
      for (;;) {
        const chunk = await reader.read();
        if (chunk.done) return;
        timeout.restart();
        const bytes = chunk.value as Uint8Array;
        bytesLeft -= bytes.length;
        if (bytesLeft < 0) throw new AnswerTooLong(answerBytes);
        parser.feed(decoder.decode(bytes, { stream: true }));
        for (const data of events.splice(0)) {
          if (data === LAST_EVENT) return;
          if (errorShape.safeParse(parseJson(data)).success) throw this.errors.refused(path, response.status, data);
          yield this.#parsed(shape, path, data);
        }
      }
    } catch (error) {
      throw this.#named(error, timeout, options.signal, CUT_OFF);
    } finally {
      timeout.abort();
      await reader.cancel().catch(() => undefined);
    }
  }

  #timeout({ signal }: RequestOptions): IdleTimeout {
    const ends = [AbortSignal.timeout(this.patience.answerMs), ...(signal === undefined ? [] : [signal])];
    return new IdleTimeout(this.patience.silenceMs, AbortSignal.any(ends));
  }

  /** Retries a request to a busy server, after growing pauses or those that the server requests. */
  async #answer(path: string, body: unknown, timeout: IdleTimeout, { signal, onRetry }: RequestOptions) {
    let waitedMs = 0;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      const attempt = await this.#attempt(path, body, timeout, signal);
      if ('response' in attempt) return attempt.response;
      const pause = attempt.retryAfter > 0 ? attempt.retryAfter : pauseMs;
      if (waitedMs + pause > this.patience.waitMs) throw attempt.failure;
      timeout.pause();
      await sleep(pause, undefined, { signal }).catch(() => signal?.throwIfAborted());
      waitedMs += pause;
      timeout.restart();
      onRetry?.({ reason: attempt.failure.message, waitedMs: pause });
    }
  }

  async #attempt(path: string, body: unknown, timeout: IdleTimeout, signal: AbortSignal | undefined) {
    const posted = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    let response: Response;
    try {
      // Redirects are not followed: no other server may receive the key or what users said.
      response = await request(this.url + path, { headers: this.#headers, redirect: 'manual', ...posted }, timeout);
    } catch (error) {
      const failure = this.#named(error, timeout, signal, failureReason(error));
      if (timeout.isReached) throw failure;
      return { failure, retryAfter: 0 };
    }
    if (response.ok) return { response };
    const answer = await readText(response, timeout, MAX_ERROR_BYTES).catch(() => '');
    const refused = this.errors.refused(path, response.status, answer);
    if (!RETRIED.includes(response.status)) throw refused;
    const { message } = refused;
    return {
      failure: this.errors.busy(message.slice(message.indexOf('answers'))),
      retryAfter: retryAfterMs(response) ?? 0,
    };
  }

  /** Maps an error: to the reason of the caller's signal if aborted, to itself if a BenchError, else to `unreachable`. */
  #named(error: unknown, timeout: IdleTimeout, signal: AbortSignal | undefined, why: string): Error {
    if (signal?.aborted === true) return signal.reason as Error;
    if (error instanceof Error && error.name === 'BenchError') return error;
    if (error instanceof AnswerTooLong) return this.errors.protocol(`sends too much: ${error.message}`, error);
    const { silenceMs, answerMs } = this.patience;
    const silent = `it sent nothing for ${silenceMs / 1000} s`;
    const endless = `the answer did not end in ${answerMs / 1000} s`;
    const reason = timeout.isReached ? silent : timeout.signal.aborted ? endless : why;
    return this.errors.unreachable(reason, error);
  }

  #parsed<Shape extends z.ZodType>(shape: Shape, path: string, text: string): z.output<Shape> {
    const read = shape.safeParse(parseJson(text));
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const what = `${issue!.path.join('.') || 'the answer'}: ${issue!.message}`;
    throw this.errors.protocol(`gives an unexpected response from ${path}: ${what}`, read.error);
  }
}

/** Checks a server's address. @throws BenchError `bad-option` if it is missing, malformed, or remote without `allowRemote` */
export function serverAddress(engine: string, engineUrl: string | undefined, allowRemote = false): string {
  const example = 'http://127.0.0.1:8080';
  if (engineUrl === undefined) {
    throw new BenchError('bad-option', `--engine ${engine}: needs a server URL`, `add --engine-url ${example}`);
  }
  const url = URL.canParse(engineUrl) ? new URL(engineUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new BenchError('bad-option', '--engine-url: not a server URL', `write it like ${example}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    // The message must not show the address, which may contain a password.
    const hint = 'drop user, password, query and fragment; an API key is read from the environment';
    throw new BenchError('bad-option', '--engine-url: has more than host and path', hint);
  }
  if (allowRemote || isLocalUrl(url)) return engineUrl;
  throw new BenchError(
    'bad-option',
    `--engine-url ${engineUrl}: not an address of this machine`,
    'prompts contain what users said: use a tunnel, such as ssh -L 8080:localhost:8080, or add --allow-remote',
  );
}
