import { setImmediate } from 'node:timers/promises';
import type { Llama } from 'node-llama-cpp';
import { BenchError } from '../../config/bench-error.ts';

const KEPT_LINES = 20;

/** llama.cpp in this process, and its complaints: its exceptions rarely say what was wrong, its log does. */
export class LlamaBackend {
  /** One for all models: a second instance would silence the log of both (3.21.1). */
  static #shared: Promise<LlamaBackend> | undefined;

  readonly llama: Llama;
  readonly #complaints: string[];

  private constructor(llama: Llama, complaints: string[]) {
    this.llama = llama;
    this.#complaints = complaints;
  }

  /**
   * The backend of this process, started at the first call: on the CPU, from the prebuilt binary, silent.
   * @throws BenchError `not-found` where there is no binary for this machine
   */
  static get(): Promise<LlamaBackend> {
    LlamaBackend.#shared ??= LlamaBackend.#start();
    return LlamaBackend.#shared;
  }

  static async #start(): Promise<LlamaBackend> {
    const complaints: string[] = [];
    const { getLlama, LlamaLogLevel } = await import('node-llama-cpp');
    try {
      const llama = await getLlama({
        gpu: false,
        build: 'never',
        skipDownload: true,
        progressLogs: false,
        // Without a common limit each context gets exactly the threads that it asks for.
        maxThreads: 0,
        logLevel: LlamaLogLevel.error,
        logger: (_level, message) => {
          complaints.push(message.trim());
          complaints.splice(0, complaints.length - KEPT_LINES);
        },
      });
      return new LlamaBackend(llama, complaints);
    } catch (cause) {
      throw new BenchError(
        'not-found',
        `llama.cpp has no binary for ${process.platform}-${process.arch}`,
        'install the optional packages of node-llama-cpp: npm ci, without --omit=optional',
        cause,
      );
    }
  }

  /** The first complaint since the last call, which names the cause; later lines only follow from it. */
  async takeComplaint(): Promise<string | undefined> {
    // Lines arrive from llama.cpp's own thread, after the call that they belong to has failed.
    await setImmediate();
    return this.#complaints.splice(0)[0];
  }
}
