import { setTimeout as sleep } from 'node:timers/promises';
import { booksAgree, type EngineAudit, type PromptTokens } from '../../store/records/engine-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import { readPromptCounters } from './prompt-counters.ts';
import type { ServerConnection } from './server-connection.ts';

const LOOK_AGAIN_MS = 50;

/** Counts of a server for one answer. */
interface AnsweredTokens {
  readonly evaluated: number;
  readonly reused: number;
}

/** Adds up what the answers of a server say of prompt tokens, beside what its counters say since the ledger was opened. */
export class PromptLedger {
  readonly #connection: ServerConnection;
  readonly #start: PromptTokens | null;
  #answers: AnsweredTokens | null = { evaluated: 0, reused: 0 };

  private constructor(connection: ServerConnection, start: PromptTokens | null) {
    this.#connection = connection;
    this.#start = start;
  }

  static async open(connection: ServerConnection, options: CallOptions): Promise<PromptLedger> {
    return new PromptLedger(connection, await readPromptCounters(connection, options));
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

  /** Both books; null where the server has no counters, or an answer was lost. Waits where they differ: a server may count after it answers. */
  async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    const deadline = performance.now() + this.#connection.patience.settleMs;
    for (;;) {
      const audit = this.#booksAt(await readPromptCounters(this.#connection, options));
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
