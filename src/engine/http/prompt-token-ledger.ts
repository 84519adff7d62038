import { setTimeout as sleep } from 'node:timers/promises';
import { auditAgrees, type PromptTokenAudit, type PromptTokens } from '../../store/records/prompt-token-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import type { ServerConnection } from './server-connection.ts';
import { counterDifference, readPromptCounters } from './prometheus-prompt-counters.ts';

const POLL_MS = 50;

/** Sums the prompt tokens reported in a server's answers, to compare with the increase of its counters since opening. */
export class PromptTokenLedger {
  readonly #connection: ServerConnection;
  readonly #start: PromptTokens | null;
  #answers: { readonly evaluated: number; readonly reused: number } | null = { evaluated: 0, reused: 0 };

  private constructor(connection: ServerConnection, start: PromptTokens | null) {
    this.#connection = connection;
    this.#start = start;
  }

  static async open(connection: ServerConnection, options: CallOptions): Promise<PromptTokenLedger> {
    return new PromptTokenLedger(connection, await readPromptCounters(connection, options));
  }

  add({ evaluated, reused }: { readonly evaluated: number; readonly reused: number }): void {
    if (this.#answers === null) return;
    this.#answers = { evaluated: this.#answers.evaluated + evaluated, reused: this.#answers.reused + reused };
  }

  /** Records a lost answer: it is unknown what the server evaluated for it. */
  markLost(): void {
    this.#answers = null;
  }

  /**
   * Sums from answers and from counters; null if the server has no counters or an answer was lost. While they differ, waits a
   * little: a server may count after it answers.
   */
  async audit(options: CallOptions = {}): Promise<PromptTokenAudit | null> {
    const deadline = performance.now() + this.#connection.patience.settleMs;
    for (;;) {
      const now = await readPromptCounters(this.#connection, options);
      if (now === null || this.#start === null || this.#answers === null) return null;
      const audit = { answers: this.#answers, counters: counterDifference(now, this.#start) };
      if (auditAgrees(audit) || performance.now() > deadline) return audit;
      await sleep(POLL_MS, undefined, { signal: options.signal }).catch(() => options.signal?.throwIfAborted());
    }
  }
}
