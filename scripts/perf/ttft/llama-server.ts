import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { BenchError } from '../../../src/base/bench-error.ts';
import { freePort } from '../../../src/base/free-port.ts';

const START_TIMEOUT_MS = 120_000;
const LOOK_AGAIN_MS = 100;
/** Length of the end of the server's log that is kept, for the message where it does not start. */
const LOG_CHARACTERS = 2000;
/** Tokens that llama.cpp evaluates at once, as in the bench's own engine. */
const BATCH_TOKENS = 512;

const completionSchema = z.object({
  content: z.string(),
  timings: z.object({ prompt_n: z.number(), prompt_ms: z.number() }),
});
const slotSchema = z.looseObject({ id_slot: z.number() });

/** Settings of a server: as the bench loads its own model. */
export interface LlamaServerOptions {
  readonly binary: string;
  readonly modelPath: string;
  readonly contextTokens: number;
  readonly threads: number | null;
  /** For saved slots. */
  readonly slotFolder: string;
}

/** A completion of one token. */
export interface PeerCompletion {
  /** Without leading white space. */
  readonly text: string;
  /** Tokens that the server evaluated, by its own count, and the time that it took. */
  readonly evaluatedTokens: number;
  readonly evaluateMs: number;
}

/** llama.cpp's own server with one slot, on a free port of this machine alone. */
export class LlamaServer implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.#url = url;
  }

  /** Starts it, and waits until the model is loaded. @throws BenchError `not-found` where that fails, with its last words */
  static async start(options: LlamaServerOptions): Promise<LlamaServer> {
    const { binary, modelPath, contextTokens, threads, slotFolder } = options;
    const port = await freePort();
    const settings = {
      '--model': modelPath,
      '--host': '127.0.0.1',
      '--port': port,
      '--ctx-size': contextTokens,
      '--parallel': 1,
      ...(threads === null ? {} : { '--threads': threads }),
      '--batch-size': BATCH_TOKENS,
      '--ubatch-size': BATCH_TOKENS,
      '--flash-attn': 'off',
      // Its own cache of prompts in memory is another thing than a slot that is restored.
      '--cache-ram': 0,
      '--slot-save-path': slotFolder,
    };
    const child = spawn(binary, Object.entries(settings).flat().map(String), { stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_CHARACTERS)));
    }
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code ?? 'nothing'}`));
    });
    const server = new LlamaServer(child, `http://127.0.0.1:${port}`);
    const why = await Promise.race([ended, server.#ready(ended)]);
    if (why === undefined) return server;
    await server[Symbol.asyncDispose]();
    const lastLine = log.trimEnd().split('\n').at(-1) ?? '';
    throw new BenchError(
      'not-found',
      `--peer ${binary}: no llama-server came up: ${why}${lastLine === '' ? '' : `: ${lastLine}`}`,
      'name the llama-server of a llama.cpp build, or drop --peer',
    );
  }

  /** One token behind a prompt; what the slot holds of its beginning is not evaluated again. */
  async complete(tokenIds: readonly number[]): Promise<PeerCompletion> {
    const body = { prompt: tokenIds, n_predict: 1, temperature: 0, cache_prompt: true, id_slot: 0 };
    const { content, timings } = completionSchema.parse(await this.#post('/completion', body));
    return { text: content.trimStart(), evaluatedTokens: timings.prompt_n, evaluateMs: timings.prompt_ms };
  }

  /** Keeps what the slot holds, restores it, or empties the slot. */
  async slot(action: 'save' | 'restore' | 'erase', filename = ''): Promise<void> {
    slotSchema.parse(await this.#post(`/slots/0?action=${action}`, { filename }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded()) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill();
    await exit;
  }

  #hasEnded(): boolean {
    const { exitCode, signalCode, pid } = this.#process;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  async #post(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.ok) return await response.json();
    throw new Error(`llama-server answers ${path} with ${response.status}: ${await response.text()}`);
  }

  /** Undefined once it answers; otherwise why not. */
  async #ready(ended: Promise<string>): Promise<string | undefined> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline) {
      if (this.#hasEnded()) return await ended;
      const healthy = await fetch(`${this.#url}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (healthy) return undefined;
      await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
    }
    return `not ready after ${START_TIMEOUT_MS / 1000} s`;
  }
}
