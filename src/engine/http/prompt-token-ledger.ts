import { setTimeout as sleep } from 'node:timers/promises';
import {
  auditAgrees,
  type PromptTokenAudit,
  type PromptTokens,
  sumPromptTokens,
} from '../../store/records/prompt-token-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import type { ServerConnection } from './server-connection.ts';
import { optional } from './server-errors.ts';

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
    /** The sums, as `audit` gives them. @throws BenchError `protocol` if they differ */
    async requireAgreement(options: CallOptions): Promise<PromptTokenAudit | null> {
      const audit = await this.audit(options);
      if (audit === null || auditAgrees(audit)) return audit;
      const [inAnswers, inCounters] = [audit.answers, audit.counters];
      throw connection.errors.protocol(
        `reports ${inAnswers.evaluated} evaluated and ${inAnswers.reused} reused tokens in answers, but ` +
          `${inCounters.evaluated} and ${inCounters.reused ?? 'unknown'} in its counters; do others use it?`,
      );
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

/** Counter names by server program: evaluated or all prompt tokens, and those reused from the server's own cache, and from others. */
const PROGRAMS: readonly {
  readonly evaluated?: string;
  readonly all?: string;
  readonly local: string;
  readonly external?: string;
}[] = [
  { evaluated: 'llamacpp:prompt_tokens_total', local: 'llamacpp:prompt_tokens_cached_total' },
  {
    all: 'vllm:prompt_tokens_total',
    local: 'vllm:prefix_cache_hits_total',
    external: 'vllm:external_prefix_cache_hits_total',
  },
  { all: 'sglang:prompt_tokens_total', local: 'sglang:cached_tokens_total' },
];

/** Reads prompt tokens from counters in Prometheus format; null if there are no known counters. */
export function parsePromptCounters(text: string): PromptTokens | null {
  for (const { evaluated, all, local: localName, external: externalName } of PROGRAMS) {
    const total = counterSum(text, evaluated ?? all!);
    if (total === null) continue;
    const local = counterSum(text, localName);
    const external = externalName === undefined ? null : counterSum(text, externalName);
    const reused = local === null && external === null ? null : (local ?? 0) + (external ?? 0);
    if (evaluated !== undefined) return { evaluated: total, reused };
    // Without reused tokens, evaluated ones cannot be told from all.
    return reused === null ? null : { evaluated: total - reused, reused, ...(external === null ? {} : { external }) };
  }
  return null;
}

function counterSum(text: string, name: string): number | null {
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'gm'))];
  return lines.length === 0 ? null : lines.reduce((sum, [, value]) => sum + Number(value), 0);
}

async function readPromptCounters(connection: ServerConnection, options: CallOptions) {
  const text = await optional(connection.text('/metrics', undefined, options));
  return text === undefined ? null : parsePromptCounters(text);
}
