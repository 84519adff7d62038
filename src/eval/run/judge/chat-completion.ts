import { setTimeout as wait } from 'node:timers/promises';
import { judgeKeyVariable } from '../../../config/server-address.ts';
import { JudgeFailure } from './judge-failure.ts';
import { quotedReply } from './quoted-reply.ts';

/** A server with an OpenAI-compatible route for chats. */
export interface ChatServer {
  /** Of the whole route. */
  readonly address: string;
  /** Sent as a bearer token, and never shown. */
  readonly key?: string | undefined;
  /** Time for one reply; 120 s where not set. */
  readonly timeoutMs?: number;
  /** Pauses before a request that was refused for load, or by an error of the server, is sent again. */
  readonly pausesMs?: readonly number[];
}

const TIMEOUT_MS = 120_000;
const PAUSES_MS = [1000, 5000];
const LONGEST_PAUSE_MS = 60_000;
/** A word is wanted; a thought may stand ahead of it. */
const MOST_TOKENS = 1024;
const MOST_BYTES = 2 ** 20;
const SHOWN_CHARACTERS = 120;

/**
 * The reply of a model to one message, at temperature 0.
 * @throws JudgeFailure in one line; the reason of `signal` if it ends the request
 */
export async function chatReply(
  server: ChatServer,
  model: string,
  prompt: string,
  signal?: AbortSignal,
): Promise<string> {
  const body = JSON.stringify({
    ...{ model, temperature: 0, max_tokens: MOST_TOKENS, stream: false },
    messages: [{ role: 'user', content: prompt }],
  });
  for (let attempt = 0; ; attempt++) {
    const { status, text, retryAfterMs } = await send(server, body, signal);
    if (status === 200) return contentOf(text, server);
    const mayPass = status === 429 || status >= 500;
    const pauseMs = (server.pausesMs ?? PAUSES_MS)[attempt];
    if (!mayPass || pauseMs === undefined) throw refused(status, text, server, model);
    await wait(Math.min(retryAfterMs ?? pauseMs, LONGEST_PAUSE_MS), undefined, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  }
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

async function send(
  { address, key, timeoutMs = TIMEOUT_MS }: ChatServer,
  body: string,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body,
      // Another server may not be sent the key.
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const seconds = Number(response.headers.get('retry-after') ?? NaN);
    return {
      status: response.status,
      text: await limitedText(response),
      retryAfterMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined,
    };
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof JudgeFailure) throw cause;
    if (timeout.aborted) {
      const message = `judge ${address}: no reply within ${timeoutMs / 1000} s`;
      throw new JudgeFailure('time-out', 'network', message, 'take a smaller model, or a faster server', cause);
    }
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : (cause as Error);
    const why = (inner as NodeJS.ErrnoException).code ?? inner.message;
    const message = `judge ${address}: cannot be reached (${why})`;
    throw new JudgeFailure('no server', 'network', message, 'start the server, or correct --judge', cause);
  }
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) {
      const message = `judge ${response.url}: the reply is longer than ${MOST_BYTES} bytes`;
      throw new JudgeFailure('no reply', 'protocol', message, 'give the address of an OpenAI-compatible server');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Completion {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
  readonly error?: { readonly message?: unknown } | string | null;
}

function parsed(text: string): Completion {
  try {
    return (JSON.parse(text) ?? {}) as Completion;
  } catch {
    return {};
  }
}

function contentOf(text: string, { address }: ChatServer): string {
  const content = parsed(text).choices?.[0]?.message?.content;
  if (typeof content === 'string') return content;
  throw new JudgeFailure(
    'no reply',
    'protocol',
    `judge ${address}: its answer holds no text at choices[0].message.content`,
    'give the address of an OpenAI-compatible server',
  );
}

/** The server's message about its error; empty where there is none. */
function complaintOf(text: string, key: string | undefined): string {
  const { error } = parsed(text);
  const said = typeof error === 'object' ? error?.message : error;
  if (typeof said !== 'string' || said.trim() === '') return '';
  return `it says ${quotedReply(said, key, SHOWN_CHARACTERS)}; `;
}

function refused(status: number, text: string, { address, key }: ChatServer, model: string): JudgeFailure {
  if (status === 401 || status === 403) {
    const hint = key === undefined ? `set ${judgeKeyVariable}` : `correct ${judgeKeyVariable}`;
    // What it says may hold a part of the key.
    return new JudgeFailure('key refused', 'network', `judge ${address}: refuses access (${status})`, hint);
  }
  const message = `judge ${address}: answered ${status}`;
  const complaint = complaintOf(text, key);
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    const hint = `${complaint}correct --judge, whose route it has not, or --judge-model ${JSON.stringify(model)}`;
    return new JudgeFailure('no such route or model', 'network', message, hint);
  }
  return new JudgeFailure('error of the server', 'network', message, `${complaint}run it again later`);
}
