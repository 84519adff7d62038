import { setImmediate } from 'node:timers/promises';

const KEPT_LINES = 20;

/** Keeps the last error lines of llama.cpp: its exceptions rarely say what was wrong, its log does. */
export class LlamaComplaints {
  readonly #logger: ((line: string) => void) | undefined;
  #lines: string[] = [];

  constructor(logger?: (line: string) => void) {
    this.#logger = logger;
  }

  add(message: string): void {
    const line = message.trim();
    if (line === '') return;
    this.#lines = [...this.#lines, line].slice(-KEPT_LINES);
    this.#logger?.(line);
  }

  /** The first complaint since the last call, which names the cause; later lines only follow from it. */
  async take(): Promise<string | undefined> {
    // Lines arrive from llama.cpp's own thread, after the call that they belong to has failed.
    await setImmediate();
    const [first] = this.#lines;
    this.#lines = [];
    return first;
  }
}
