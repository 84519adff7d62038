import { setTimeout as sleep } from 'node:timers/promises';
import { booksAgree, type EngineAudit, type PromptTokens } from '../../records/engine-audit.ts';
import type { CallOptions } from '../call-options.ts';

/** A server counts a little later than it answers. */
const SETTLES_IN_MS = 2000;
const LOOK_AGAIN_MS = 50;

/** What a server says of one answer. */
interface AnsweredTokens {
  readonly evaluated: number;
  readonly reused: number;
}

/** Reads the counters of a server; null where it shows none. */
type ReadCounters = (options: CallOptions) => Promise<PromptTokens | null>;

/** Adds up what the answers of a server say of prompt tokens, beside what its counters say since the ledger was opened. */
export class PromptLedger {
  readonly #read: ReadCounters;
  readonly #start: PromptTokens | null;
  #answers: AnsweredTokens | null = { evaluated: 0, reused: 0 };

  private constructor(read: ReadCounters, start: PromptTokens | null) {
    this.#read = read;
    this.#start = start;
  }

  static async open(read: ReadCounters, options: CallOptions): Promise<PromptLedger> {
    return new PromptLedger(read, await read(options));
  }

  /** Books an answer. */
  add({ evaluated, reused }: AnsweredTokens): void {
    if (this.#answers === null) return;
    this.#answers = { evaluated: this.#answers.evaluated + evaluated, reused: this.#answers.reused + reused };
  }

  /** Books an answer that was lost: nobody knows what the server did for it. */
  lose(): void {
    this.#answers = null;
  }

  /** Both books; null where the server has no counters, or an answer was lost. Waits a little where they differ. */
  async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    const deadline = performance.now() + SETTLES_IN_MS;
    for (;;) {
      const audit = this.#booksAt(await this.#read(options));
      if (audit === null || booksAgree(audit) || performance.now() > deadline) return audit;
      await sleep(LOOK_AGAIN_MS, undefined, { signal: options.signal }).catch(() => options.signal?.throwIfAborted());
    }
  }

  #booksAt(now: PromptTokens | null): EngineAudit | null {
    if (now === null || this.#start === null || this.#answers === null) return null;
    return { answers: this.#answers, counters: difference(now, this.#start) };
  }
}

function difference(now: PromptTokens, start: PromptTokens): PromptTokens {
  const reused = now.reused === null || start.reused === null ? null : now.reused - start.reused;
  return { evaluated: now.evaluated - start.evaluated, reused };
}
