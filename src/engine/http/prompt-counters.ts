import { BenchError } from '../../base/bench-error.ts';
import type { PromptTokens } from '../../store/records/engine-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import type { ServerConnection } from './server-connection.ts';

/** Names of counters of one program: prompt tokens in all, or those that were evaluated, and those that were found. */
interface CounterNames {
  readonly evaluated?: string;
  readonly all?: string;
  /** Several are added up. */
  readonly reused: readonly string[];
}

const PROGRAMS: readonly CounterNames[] = [
  { evaluated: 'llamacpp:prompt_tokens_total', reused: ['llamacpp:prompt_tokens_cached_total'] },
  {
    all: 'vllm:prompt_tokens_total',
    reused: ['vllm:prefix_cache_hits_total', 'vllm:external_prefix_cache_hits_total'],
  },
  { all: 'sglang:prompt_tokens_total', reused: ['sglang:cached_tokens_total'] },
];

/** Reads prompt tokens from counters in Prometheus' form; null where the text has none that are known. */
export function promptCountersIn(text: string): PromptTokens | null {
  for (const { evaluated, all, reused: names } of PROGRAMS) {
    const total = sumOf(text, evaluated ?? all!);
    if (total === null) continue;
    const found = names.map((name) => sumOf(text, name)).filter((count) => count !== null);
    const reused = found.length === 0 ? null : found.reduce((sum, count) => sum + count, 0);
    if (evaluated !== undefined) return { evaluated: total, reused };
    // Without those that were found nobody knows how many of all ran through the model.
    return reused === null ? null : { evaluated: total - reused, reused };
  }
  return null;
}

/** The counters of a server; null where it shows none. */
export async function readPromptCounters(
  connection: ServerConnection,
  options: CallOptions,
): Promise<PromptTokens | null> {
  try {
    return promptCountersIn(await connection.text('/metrics', options));
  } catch (error) {
    if (error instanceof BenchError && ['protocol', 'unsupported'].includes(error.code)) return null;
    throw error;
  }
}

/** Of one counter over all its labels; null where it is not there. */
function sumOf(text: string, name: string): number | null {
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'gm'))];
  return lines.length === 0 ? null : lines.reduce((sum, [, count]) => sum + Number(count), 0);
}
