import { type Eviction, evictionName } from '../../kv/eviction-scores.ts';
import type { PrefillRecord } from '../../store/records/prefill-record.ts';
import type { StoreType } from '../../store/records/store-type.ts';
import type { PrefixParts } from './prefix-parts.ts';
import type { TurnContext } from './prefill-strategy.ts';

/** KV that is in the session, in front of the suffix. */
export interface Loaded {
  readonly sizeBytes: number;
  readonly tokens: number;
  /** Fewer than tokens where some were evicted. */
  readonly cells: number;
  readonly origin: 'resident' | 'disk' | 'computed';
}

/** The record of a prefix that was injected. */
export function prefixRecord(
  key: string,
  { sizeBytes, tokens, cells, origin }: Loaded,
  { alpha }: Pick<TurnContext, 'alpha'>,
  parts: PrefixParts,
  computeMs: number,
  { evict, keptAs }: { readonly evict: Eviction | null; readonly keptAs: StoreType },
): PrefillRecord {
  return {
    strategy: 'prefix',
    ...(evict === null ? {} : { evicted: evictionName(evict) }),
    ...(keptAs === 'f16' ? {} : { keptAs }),
    alpha,
    key,
    memoryIds: parts.lines.map(({ memoryId }) => memoryId),
    tokens,
    origin,
    computeMs,
    sizeBytes,
    memoryLines: { tokens: tokens - parts.header.length, cells: cells - parts.header.length },
  };
}
