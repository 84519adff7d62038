import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../../base/bench-error.ts';
import { freePort } from '../../base/free-port.ts';
import type { CallOptions } from '../engine-session.ts';
import type { NumberType } from '../sequence-state.ts';
import { PrivateFolder } from '../llama-state/private-folder.ts';

const START_LIMIT_MS = 120_000;
const LOOK_AGAIN_MS = 50;
/** Stored end of the server's log, for the message if it does not start. */
const LOG_CHARACTERS = 4000;

/** Runs a program and kills it when standard input ends, which the system closes when this process ends, however it ends. */
const WITH_PARENT = `
exec 3<&0
"$@" </dev/null &
program=$!
(cat <&3 >/dev/null; kill -9 $program 2>/dev/null) &
wait $program
`;

/** A server to start. */
export interface OwnServerSettings {
  readonly program: string;
  readonly modelPath: string;
  readonly slots: number;
  /** Tokens of one slot. */
  readonly slotTokens: number;
  readonly kvType: NumberType;
  readonly threads: number | undefined;
}

/** A llama-server on a free port of 127.0.0.1; it ends with this process, however that ends. */
export class OwnServer implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: PrivateFolder;

  private constructor(process: ChildProcess, url: string, folder: PrivateFolder) {
    this.#process = process;
    this.url = url;
    this.#folder = folder;
  }

  /** The folder that it saves slots to. */
  get slotsFolder(): string {
    return this.#folder.path;
  }

  /** Starts a server, and waits until it has loaded the model. @throws BenchError `not-found` with the last line of its log */
  static async start(settings: OwnServerSettings, { signal }: CallOptions = {}): Promise<OwnServer> {
    const { program } = settings;
    const folder = new PrivateFolder();
    const port = await freePort();
    const child = spawn(
      'sh',
      ['-c', WITH_PARENT, 'llama-server', program, ...serverFlags(settings, port, folder.path)],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    let log = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_CHARACTERS)));
    }
    // Writing to an ended program fails.
    child.stdin.on('error', () => undefined);
    const server = new OwnServer(child, `http://127.0.0.1:${port}`, folder);
    try {
      const why = await server.#waitUntilReady(signal);
      if (why === undefined) return server;
      const lastLine = log.trimEnd().split('\n').at(-1) ?? '';
      throw new BenchError(
        'not-found',
        `--llama-server ${program}: no server came up: ${why}${lastLine === '' ? '' : `: ${lastLine}`}`,
        'name the llama-server of a llama.cpp build, or bring one: scripts/engines/llama-server.sh',
      );
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded()) {
      const exit = once(this.#process, 'exit');
      this.#process.stdin!.end();
      await exit;
    }
    this.#folder[Symbol.dispose]();
  }

  #hasEnded(): boolean {
    const { exitCode, signalCode, pid } = this.#process;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  /** Waits for the server. @returns why it did not start; undefined if it did */
  async #waitUntilReady(signal: AbortSignal | undefined): Promise<string | undefined> {
    const deadline = performance.now() + START_LIMIT_MS;
    while (performance.now() < deadline) {
      signal?.throwIfAborted();
      if (this.#hasEnded()) return `it ended with ${this.#process.exitCode ?? this.#process.signalCode}`;
      const isHealthy = await fetch(`${this.url}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isHealthy) return undefined;
      await sleep(LOOK_AGAIN_MS);
    }
    return `not ready after ${START_LIMIT_MS / 1000} s`;
  }
}

function serverFlags(
  { modelPath, slots, slotTokens, kvType, threads }: OwnServerSettings,
  port: number,
  folder: string,
): string[] {
  const type = kvType.toLowerCase();
  const settings = {
    '--model': modelPath,
    '--host': '127.0.0.1',
    '--port': port,
    '--parallel': slots,
    '--ctx-size': slots * slotTokens,
    '--slot-save-path': join(folder, '/'),
    '--cache-ram': 0,
    '--cache-type-k': type,
    '--cache-type-v': type,
    ...(threads === undefined ? {} : { '--threads': threads }),
  };
  return [...Object.entries(settings).flat().map(String), '--slots', '--metrics'];
}
