import { setTimeout as wait } from 'node:timers/promises';
import { BenchError } from '../../../base/bench-error.ts';
import {
  AnswerTooLong,
  failureReason,
  IdleTimeout,
  readText,
  request,
  retryAfterMs,
} from '../../../base/http-request.ts';
import { judgeKeyVariable } from '../../../config/api-key.ts';

export interface ChatServer {
  readonly address: string;
  /** Sent as a bearer token, and never shown. */
  readonly key?: string | undefined;
  /** Time for one reply. Default: 120 s. */
  readonly timeoutMs?: number;
  /** Pauses before each retry, if the server was overloaded or failed. Default: 1 s, 5 s. */
  readonly pausesMs?: readonly number[];
}

export type FailureReason =
  | 'no server'
  | 'no such route or model'
  | 'key refused'
  | 'time-out'
  | 'error of the server'
  | 'no reply'
  | 'neither yes nor no';

/** An answer could not be judged. The message is stored, so it must not quote the server's reply; the hint may. */
export class JudgeFailure extends BenchError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, hint: string, cause?: unknown) {
    const isReply = reason === 'no reply' || reason === 'neither yes nor no';
    super(isReply ? 'protocol' : 'network', message, hint, cause);
    this.reason = reason;
  }
}

const LONGEST_PAUSE_MS = 60_000;
/** Enough for some reasoning, and one word. */
const MAX_TOKENS = 1024;
const MAX_BYTES = 2 ** 20;
const SHOWN_CHARACTERS = 120;
const WRONG_SERVER = 'give the address of an OpenAI-compatible server';

/** The reply of a model to one message, at temperature 0. @throws JudgeFailure; the reason of `signal` */
export async function chatReply(server: ChatServer, model: string, prompt: string, signal?: AbortSignal) {
  const { pausesMs = [1000, 5000] } = server;
  const messages = [{ role: 'user', content: prompt }];
  const body = JSON.stringify({ model, temperature: 0, max_tokens: MAX_TOKENS, stream: false, messages });
  for (let attempt = 0; ; attempt++) {
    const { response, text } = await send(server, body, signal);
    const { status } = response;
    if (status === 200) return replyText(text, server);
    const pauseMs = status === 429 || status >= 500 ? pausesMs[attempt] : undefined;
    if (pauseMs === undefined) throw refusal(status, text, server, model);
    const waitMs = Math.min(retryAfterMs(response) ?? pauseMs, LONGEST_PAUSE_MS);
    await wait(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

async function send({ address, key, timeoutMs = 120_000 }: ChatServer, body: string, signal: AbortSignal | undefined) {
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const deadline = AbortSignal.timeout(timeoutMs);
  using timeout = new IdleTimeout(timeoutMs, signal === undefined ? deadline : AbortSignal.any([signal, deadline]));
  try {
    // No redirects: they could send the key to another server.
    const response = await request(address, { method: 'POST', headers, body, redirect: 'manual' }, timeout);
    return { response, text: await readText(response, timeout, MAX_BYTES) };
  } catch (cause) {
    signal?.throwIfAborted();
    const judge = `judge ${address}:`;
    if (cause instanceof AnswerTooLong) {
      throw new JudgeFailure('no reply', `${judge} the reply is longer than ${MAX_BYTES} bytes`, WRONG_SERVER);
    }
    if (timeout.signal.aborted) {
      const message = `${judge} no reply within ${timeoutMs / 1000} s`;
      throw new JudgeFailure('time-out', message, 'take a smaller model, or a faster server', cause);
    }
    const message = `${judge} cannot be reached (${failureReason(cause)})`;
    throw new JudgeFailure('no server', message, 'start the server, or correct --judge', cause);
  }
}

interface Completion {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
  readonly error?: { readonly message?: unknown } | string | null;
}

function parse(text: string): Completion {
  try {
    return (JSON.parse(text) ?? {}) as Completion;
  } catch {
    return {};
  }
}

function replyText(text: string, { address }: ChatServer): string {
  const content = parse(text).choices?.[0]?.message?.content;
  if (typeof content === 'string') return content;
  const message = `judge ${address}: the reply has no text at choices[0].message.content`;
  throw new JudgeFailure('no reply', message, WRONG_SERVER);
}

function refusal(status: number, text: string, { address, key }: ChatServer, model: string): JudgeFailure {
  if (status === 401 || status === 403) {
    const hint = key === undefined ? `set ${judgeKeyVariable}` : `correct ${judgeKeyVariable}`;
    // The server's own message may hold a part of the key.
    return new JudgeFailure('key refused', `judge ${address}: refuses access (${status})`, hint);
  }
  const message = `judge ${address}: answered ${status}`;
  const { error } = parse(text);
  const said = typeof error === 'object' ? error?.message : error;
  const isShown = typeof said === 'string' && said.trim() !== '';
  const complaint = isShown ? `it says ${quoteReply(said, key, SHOWN_CHARACTERS)}; ` : '';
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    const hint = `${complaint}correct --judge, which has no such route, or --judge-model ${JSON.stringify(model)}`;
    return new JudgeFailure('no such route or model', message, hint);
  }
  return new JudgeFailure('error of the server', message, `${complaint}run it again later`);
}

/** The beginning of a server's reply as a one-line JSON string, without the key, which some servers repeat. */
export function quoteReply(text: string, key: string | undefined, mostCharacters: number): string {
  const shown = key === undefined ? text : text.replaceAll(key, '…');
  return JSON.stringify(shown.replaceAll(/\s+/g, ' ').trim().slice(0, mostCharacters));
}
