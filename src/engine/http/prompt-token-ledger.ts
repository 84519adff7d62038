import { setTimeout as sleep } from 'node:timers/promises';
import {
  auditAgrees,
  type PromptTokenAudit,
  type PromptTokens,
  sumPromptTokens,
} from '../../store/records/prompt-token-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import type { ServerConnection } from './server-connection.ts';
import { readPromptCounters } from './prometheus-prompt-counters.ts';

const POLL_MS = 50;

export type PromptTokenLedger = Awaited<ReturnType<typeof openPromptTokenLedger>>;

/** Sums the prompt tokens reported in a server's answers, to compare with the increase of its counters since opening. */
export async function openPromptTokenLedger(connection: ServerConnection, options: CallOptions) {
  const start = await readPromptCounters(connection, options);
  let answers: PromptTokens | null = { evaluated: 0, reused: 0, external: 0 };
  return {
    add(tokens: PromptTokens): void {
      if (answers !== null) answers = sumPromptTokens(answers, tokens);
    },
    /** Records a lost answer: it is unknown what the server evaluated for it. */
    markLost(): void {
      answers = null;
    },
    /**
     * Sums from answers and from counters; null if the server has no counters or an answer was lost. While they differ, waits a
     * little: a server may count after it answers.
     */
    async audit({ signal }: CallOptions = {}): Promise<PromptTokenAudit | null> {
      const deadline = performance.now() + connection.patience.settleMs;
      for (;;) {
        const now = await readPromptCounters(connection, { signal });
        if (now === null || start === null || answers === null) return null;
        const audit = { answers, counters: sumPromptTokens(now, start, -1) };
        if (auditAgrees(audit) || performance.now() > deadline) return audit;
        await sleep(POLL_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
      }
    },
  };
}
