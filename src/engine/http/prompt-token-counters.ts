import { setTimeout as sleep } from 'node:timers/promises';
import { booksAgree, type EngineAudit, type PromptTokens } from '../../store/records/run-probes.ts';
import type { CallOptions } from '../engine-session.ts';
import { optional } from './server-errors.ts';
import type { ServerConnection } from './server-connection.ts';

const LOOK_AGAIN_MS = 50;

/** Counters of prompt tokens by program: those evaluated, or all, and those reused, whose values are added up. */
const PROGRAMS: readonly { readonly evaluated?: string; readonly all?: string; readonly reused: readonly string[] }[] =
  [
    { evaluated: 'llamacpp:prompt_tokens_total', reused: ['llamacpp:prompt_tokens_cached_total'] },
    {
      all: 'vllm:prompt_tokens_total',
      reused: ['vllm:prefix_cache_hits_total', 'vllm:external_prefix_cache_hits_total'],
    },
    { all: 'sglang:prompt_tokens_total', reused: ['sglang:cached_tokens_total'] },
  ];

/** Reads prompt tokens from counters in Prometheus' format; null where the text has none that are known. */
export function parsePromptCounters(text: string): PromptTokens | null {
  for (const { evaluated, all, reused: names } of PROGRAMS) {
    const total = counterSum(text, evaluated ?? all!);
    if (total === null) continue;
    const found = names.map((name) => counterSum(text, name)).filter((value) => value !== null);
    const reused = found.length === 0 ? null : found.reduce((sum, value) => sum + value, 0);
    if (evaluated !== undefined) return { evaluated: total, reused };
    // Without the reused ones it is unknown how many of all ran through the model.
    return reused === null ? null : { evaluated: total - reused, reused };
  }
  return null;
}

function counterSum(text: string, name: string): number | null {
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'gm'))];
  return lines.length === 0 ? null : lines.reduce((sum, [, value]) => sum + Number(value), 0);
}

export async function readPromptCounters(
  connection: ServerConnection,
  options: CallOptions,
): Promise<PromptTokens | null> {
  const text = await optional(connection.text('/metrics', undefined, options));
  return text === undefined ? null : parsePromptCounters(text);
}

/** Adds up the prompt tokens that a server's answers report, beside what its counters report since the ledger was opened. */
export class PromptLedger {
  readonly #connection: ServerConnection;
  readonly #start: PromptTokens | null;
  #answers: { readonly evaluated: number; readonly reused: number } | null = { evaluated: 0, reused: 0 };

  private constructor(connection: ServerConnection, start: PromptTokens | null) {
    this.#connection = connection;
    this.#start = start;
  }

  static async open(connection: ServerConnection, options: CallOptions): Promise<PromptLedger> {
    return new PromptLedger(connection, await readPromptCounters(connection, options));
  }

  add({ evaluated, reused }: { readonly evaluated: number; readonly reused: number }): void {
    if (this.#answers === null) return;
    this.#answers = { evaluated: this.#answers.evaluated + evaluated, reused: this.#answers.reused + reused };
  }

  /** Books a lost answer: what the server did for it is unknown. */
  lose(): void {
    this.#answers = null;
  }

  /**
   * Both sums; null where the server has no counters, or an answer was lost. Waits while they differ: a server may count
   * after it answers.
   */
  async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    const deadline = performance.now() + this.#connection.patience.settleMs;
    for (;;) {
      const now = await readPromptCounters(this.#connection, options);
      if (now === null || this.#start === null || this.#answers === null) return null;
      const audit = { answers: this.#answers, counters: counterDifference(now, this.#start) };
      if (booksAgree(audit) || performance.now() > deadline) return audit;
      await sleep(LOOK_AGAIN_MS, undefined, { signal: options.signal }).catch(() => options.signal?.throwIfAborted());
    }
  }
}

export function counterDifference(now: PromptTokens, start: PromptTokens): PromptTokens {
  const reused = now.reused === null || start.reused === null ? null : now.reused - start.reused;
  return { evaluated: now.evaluated - start.evaluated, reused };
}
