/** HTTP requests with an idle time-out and a limit on the size of responses, for the model hub, model servers and the judge. */

/** Aborts a request when its server sends nothing for `idleMs`, or when the caller cancels it. */
export class IdleTimeout implements Disposable {
  readonly idleMs: number;
  /** Aborted by the time-out, by `abort`, or by the caller's signal. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isReached = false;

  constructor(idleMs: number, cancel?: AbortSignal) {
    this.idleMs = idleMs;
    this.signal = cancel === undefined ? this.#controller.signal : AbortSignal.any([cancel, this.#controller.signal]);
    this.restart();
  }

  /** True once the server has sent nothing for too long. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** Restarts the clock, since the server has sent something. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isReached = true;
      this.#controller.abort();
    }, this.idleMs);
  }

  /** Stops the clock until `restart`. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  abort(): void {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** Sends a request. @throws what `fetch` throws; `failureReason` puts it in words */
export async function request(address: string, options: RequestInit, timeout: IdleTimeout): Promise<Response> {
  const response = await fetch(address, { ...options, signal: timeout.signal });
  timeout.restart();
  return response;
}

export class AnswerTooLong extends Error {
  constructor(mostBytes: number) {
    super(`the answer is longer than ${mostBytes} bytes`);
  }
}

/** Reads a response body as text. @throws AnswerTooLong */
export async function readText(response: Response, timeout: IdleTimeout, mostBytes = Infinity): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    timeout.restart();
    bytes += chunk.length;
    if (bytes > mostBytes) throw new AnswerTooLong(mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Why a request failed: a system code such as `ECONNREFUSED`, else a message. `fetch` puts both into the error's cause. */
export function failureReason(error: unknown): string {
  const { cause, message } = error as Error;
  const inner = cause instanceof Error ? cause : (error as Error);
  return (inner as NodeJS.ErrnoException).code ?? (inner.message || message);
}

/** Milliseconds to wait before the next request, from the header `Retry-After`; undefined without it. */
export function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** True for an address that only this machine can reach. */
export function isLocalUrl({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
