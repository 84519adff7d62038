import type { PromptTokens } from '../../store/records/prompt-token-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import { optional } from './server-errors.ts';
import type { ServerConnection } from './server-connection.ts';

/** Counter names by server program: evaluated or all prompt tokens, and the reused ones (summed). */
const PROGRAMS: readonly { readonly evaluated?: string; readonly all?: string; readonly reused: readonly string[] }[] =
  [
    { evaluated: 'llamacpp:prompt_tokens_total', reused: ['llamacpp:prompt_tokens_cached_total'] },
    {
      all: 'vllm:prompt_tokens_total',
      reused: ['vllm:prefix_cache_hits_total', 'vllm:external_prefix_cache_hits_total'],
    },
    { all: 'sglang:prompt_tokens_total', reused: ['sglang:cached_tokens_total'] },
  ];

/** Reads prompt tokens from counters in Prometheus format; null if there are no known counters. */
export function parsePromptCounters(text: string): PromptTokens | null {
  for (const { evaluated, all, reused: names } of PROGRAMS) {
    const total = counterSum(text, evaluated ?? all!);
    if (total === null) continue;
    const found = names.map((name) => counterSum(text, name)).filter((value) => value !== null);
    const reused = found.length === 0 ? null : found.reduce((sum, value) => sum + value, 0);
    if (evaluated !== undefined) return { evaluated: total, reused };
    // Without reused tokens, evaluated ones cannot be told from all.
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

export function counterDifference(now: PromptTokens, start: PromptTokens): PromptTokens {
  const reused = now.reused === null || start.reused === null ? null : now.reused - start.reused;
  return { evaluated: now.evaluated - start.evaluated, reused };
}
