import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { CallOptions, Retry } from '../engine-session.ts';
import { errorShape, ServerErrors, type ServerName } from './server-errors.ts';

/** How long a server is waited for. */
export interface Patience {
  /** Until a server that refuses connections, or that is busy, has to answer. */
  readonly waitMs: number;
  /** Between two bytes of an answer. */
  readonly silenceMs: number;
  /** Until its counters say what its answers said. */
  readonly settleMs: number;
}

const USUAL: Patience = { waitMs: 20_000, silenceMs: 50_000, settleMs: 2000 };
const FIRST_PAUSE_MS = 250;
/** Statuses of a server that may answer later: too many requests, and loading its model. */
const LATER = [429, 503];

/** Ends a stream of OpenAI's kind; others end with the line. */
const LAST_EVENT = '[DONE]';

interface Sent {
  readonly path: string;
  readonly body?: unknown;
}

export interface RequestOptions extends CallOptions {
  /** Told of every attempt that is made again. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** A server behind HTTP: every request is checked, and made again within bounds where the server may answer later. */
export class ServerConnection {
  readonly url: string;
  /** The ways in which this server fails. */
  readonly errors: ServerErrors;
  readonly #headers: Readonly<Record<string, string>>;
  readonly patience: Patience;

  constructor(server: ServerName, patience: Patience = USUAL) {
    this.url = server.url.replace(/\/+$/, '');
    this.errors = new ServerErrors({ ...server, url: this.url });
    this.patience = patience;
    this.#headers = {
      'content-type': 'application/json',
      // Servers with few threads leave one with each connection until that is closed: those that are kept open would lock out others.
      connection: 'close',
      ...(server.key === undefined ? {} : { authorization: `Bearer ${server.key}` }),
    };
  }

  /** @throws BenchError `unreachable`, `busy`, `protocol`, `unsupported`, `context-overflow` */
  async get<Shape extends z.ZodType>(path: string, shape: Shape, options?: RequestOptions): Promise<z.output<Shape>> {
    return this.#parsed(shape, path, await this.text(path, options));
  }

  /** The answer as it is. @param body of a request that posts something */
  async text(path: string, options: RequestOptions & { readonly body?: unknown } = {}): Promise<string> {
    const { body } = options;
    return this.#whole({ path, ...(body === undefined ? {} : { body }) }, options);
  }

  async post<Shape extends z.ZodType>(
    path: string,
    body: unknown,
    shape: Shape,
    options: RequestOptions = {},
  ): Promise<z.output<Shape>> {
    return this.#parsed(shape, path, await this.#whole({ path, body }, options));
  }

  /**
   * The events of an answer, as they come. The connection is closed where the caller leaves the loop.
   * @throws BenchError `unreachable` where the answer ends before the last event, besides those of `get`
   */
  async *stream<Shape extends z.ZodType>(
    path: string,
    body: unknown,
    shape: Shape,
    options: RequestOptions = {},
  ): AsyncGenerator<z.output<Shape>, void> {
    using silence = new Silence(this.patience.silenceMs, options.signal);
    const response = await this.#answer({ path, body }, silence, options);
    const { createParser } = await import('eventsource-parser');
    const events: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
    const decoder = new TextDecoder();
    // Not `for await`, which rejects where a reader leaves what was aborted.
    const reader = response.body!.getReader();
    try {
      for (;;) {
        const chunk = await reader.read();
        if (chunk.done) return;
        silence.broken();
        parser.feed(decoder.decode(chunk.value as Uint8Array, { stream: true }));
        for (const data of events.splice(0)) {
          if (data === LAST_EVENT) return;
          const failure = errorShape.safeParse(jsonOf(data));
          if (failure.success) throw this.errors.refused(path, response.status, data);
          yield this.#parsed(shape, path, data);
        }
      }
    } catch (error) {
      throw this.#named(error, silence, options.signal, 'the answer was cut off');
    } finally {
      silence.close();
      await reader.cancel().catch(() => undefined);
    }
  }

  async #whole(sent: Sent, options: RequestOptions): Promise<string> {
    using silence = new Silence(this.patience.silenceMs, options.signal);
    const response = await this.#answer(sent, silence, options);
    try {
      return await response.text();
    } catch (error) {
      throw this.#named(error, silence, options.signal, 'the answer was cut off');
    }
  }

  /** Waits for a server that may answer later, in growing pauses, or as long as the server asks for. */
  async #answer(sent: Sent, silence: Silence, { signal, onRetry }: RequestOptions): Promise<Response> {
    let waitedMs = 0;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      const attempt = await this.#attempt(sent, silence, signal);
      if ('response' in attempt) return attempt.response;
      const pause = attempt.retryAfterMs ?? pauseMs;
      if (waitedMs + pause > this.patience.waitMs) throw attempt.failure;
      silence.pause();
      await sleep(pause, undefined, { signal }).catch(() => signal?.throwIfAborted());
      waitedMs += pause;
      silence.broken();
      onRetry?.({ reason: attempt.failure.message, waitedMs: pause });
    }
  }

  async #attempt({ path, body }: Sent, silence: Silence, signal: AbortSignal | undefined): Promise<Attempt> {
    let response: Response;
    try {
      response = await fetch(this.url + path, {
        signal: silence.signal,
        headers: this.#headers,
        // Another server may be sent neither the key nor what users said.
        redirect: 'manual',
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
    } catch (error) {
      const failure = this.#named(error, silence, signal, reasonOf(error));
      if (silence.isOver) throw failure;
      return { failure };
    }
    if (response.ok) return { response };
    const answer = await response.text().catch(() => '');
    if (!LATER.includes(response.status)) throw this.errors.refused(path, response.status, answer);
    const { message } = this.errors.refused(path, response.status, answer);
    const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
    return {
      failure: this.errors.busy(message.slice(message.indexOf('answers'))),
      ...(Number.isFinite(retryAfter) && retryAfter > 0 ? { retryAfterMs: retryAfter * 1000 } : {}),
    };
  }

  /** The reason of the caller's signal, our own errors as they are, and a name for all others. */
  #named(error: unknown, silence: Silence, signal: AbortSignal | undefined, why: string): Error {
    if (signal?.aborted === true) return signal.reason as Error;
    if (error instanceof Error && error.name === 'BenchError') return error;
    const silent = `no byte came in ${this.patience.silenceMs / 1000} s`;
    return this.errors.unreachable(silence.isOver ? silent : why, error);
  }

  #parsed<Shape extends z.ZodType>(shape: Shape, path: string, text: string): z.output<Shape> {
    const read = shape.safeParse(jsonOf(text));
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const what = `${issue!.path.join('.') || 'the answer'}: ${issue!.message}`;
    throw this.errors.protocol(`answers ${path} with what it should not, ${what}`, read.error);
  }
}

type Attempt = { readonly response: Response } | { readonly failure: Error; readonly retryAfterMs?: number };

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** `fetch` says "fetch failed", and why in the cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}

/** Ends a request in which nothing comes for too long, or whose caller has enough. */
class Silence implements Disposable {
  readonly #controller = new AbortController();
  readonly #limitMs: number;
  readonly signal: AbortSignal;
  #timer: NodeJS.Timeout;
  isOver = false;

  constructor(limitMs: number, signal: AbortSignal | undefined) {
    this.#limitMs = limitMs;
    this.signal = signal === undefined ? this.#controller.signal : AbortSignal.any([signal, this.#controller.signal]);
    this.#timer = this.#started();
  }

  /** Something came. */
  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#started();
  }

  /** Nothing is waited for. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the request. */
  close(): void {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #started(): NodeJS.Timeout {
    return setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, this.#limitMs).unref();
  }
}
