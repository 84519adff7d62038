import type { PromptTokens } from '../../store/records/prompt-token-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import { optional } from './server-errors.ts';
import type { ServerConnection } from './server-connection.ts';

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

export async function readPromptCounters(connection: ServerConnection, options: CallOptions) {
  const text = await optional(connection.text('/metrics', undefined, options));
  return text === undefined ? null : parsePromptCounters(text);
}
