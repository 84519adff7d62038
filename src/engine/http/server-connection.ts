import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { AnswerTooLong, failureReason, IdleTimeout, readText, request, retryAfterMs } from '../../base/http-request.ts';
import type { CallOptions, Retry } from '../engine-session.ts';
import { errorShape, ServerErrors, type ServerName } from './server-errors.ts';

/** How long to wait for a server, and how much to read. */
export interface Patience {
  /** Until a server that refuses connections, or that is busy, has to answer. */
  readonly waitMs: number;
  readonly silenceMs: number;
  /** Until its counters agree with its answers. */
  readonly settleMs: number;
  /** Until an answer must have ended, whether or not bytes still come. */
  readonly answerMs: number;
  readonly answerBytes: number;
}

const DEFAULT_PATIENCE: Patience = {
  waitMs: 20_000,
  silenceMs: 50_000,
  settleMs: 2000,
  answerMs: 1_800_000,
  // The likeliest tokens at each place of a long prompt fill half of it.
  answerBytes: 2 ** 28,
};
const MAX_ERROR_BYTES = 2 ** 20;
const FIRST_PAUSE_MS = 250;
/** Statuses of a server that may answer later: too many requests, and loading its model. */
const RETRIED = [429, 503];
/** Ends a stream of OpenAI's kind; other streams end with the connection. */
const LAST_EVENT = '[DONE]';
const CUT_OFF = 'the answer was cut off';

export interface RequestOptions extends CallOptions {
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** A model server behind HTTP: every answer is checked, and a request is repeated, within bounds, while the server is busy. */
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
      // Servers with few threads bind one to each connection until it is closed: open ones would lock out others.
      connection: 'close',
      ...(server.key === undefined ? {} : { authorization: `Bearer ${server.key}` }),
    };
  }

  /** @throws BenchError `unreachable`, `busy`, `protocol`, `unsupported`, `context-overflow` */
  async get<Shape extends z.ZodType>(path: string, shape: Shape, options?: RequestOptions): Promise<z.output<Shape>> {
    return this.#parsed(shape, path, await this.text(path, undefined, options));
  }

  async post<Shape extends z.ZodType>(
    path: string,
    body: unknown,
    shape: Shape,
    options?: RequestOptions,
  ): Promise<z.output<Shape>> {
    return this.#parsed(shape, path, await this.text(path, body, options));
  }

  /** The answer as text. @param body posted unless it is undefined */
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
   * The events of an answer, as they come. The connection is closed when the caller leaves the loop.
   * @throws BenchError `unreachable` where the answer ends before the last event, besides those of `get`
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
    // Not `for await`, which rejects when a reader leaves an aborted stream.
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

  /** Repeats a request to a busy server, after growing pauses or as long as the server asks for. */
  async #answer(
    path: string,
    body: unknown,
    timeout: IdleTimeout,
    { signal, onRetry }: RequestOptions,
  ): Promise<Response> {
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

  async #attempt(
    path: string,
    body: unknown,
    timeout: IdleTimeout,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly response: Response } | { readonly failure: Error; readonly retryAfter: number }> {
    const posted = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    let response: Response;
    try {
      // Redirects are not followed: another server may get neither the key nor what users said.
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

  /** The reason of the caller's signal, a BenchError as it is, and `unreachable` for all other errors. */
  #named(error: unknown, timeout: IdleTimeout, signal: AbortSignal | undefined, why: string): Error {
    if (signal?.aborted === true) return signal.reason as Error;
    if (error instanceof Error && error.name === 'BenchError') return error;
    if (error instanceof AnswerTooLong) return this.errors.protocol(`sends too much: ${error.message}`, error);
    const { silenceMs, answerMs } = this.patience;
    const silent = `no byte came in ${silenceMs / 1000} s`;
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
