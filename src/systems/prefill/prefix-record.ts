import type { PrefillRecord } from '../../records/prefill-record.ts';
import type { PrefixParts } from './prefix-parts.ts';
import type { TurnContext } from './prefill-strategy.ts';

/** K/V that is in the session, in front of the suffix. */
export interface Loaded {
  readonly sizeBytes: number;
  readonly tokens: number;
  readonly origin: 'resident' | 'disk' | 'computed';
}

/** The record of a prefix that was injected. */
export function prefixRecord(
  key: string,
  { sizeBytes, tokens, origin }: Loaded,
  { alpha }: Pick<TurnContext, 'alpha'>,
  parts: PrefixParts,
  computeMs: number,
): PrefillRecord {
  return {
    strategy: 'prefix',
    alpha,
    key,
    memoryIds: parts.lines.map(({ memoryId }) => memoryId),
    tokens,
    origin,
    computeMs,
    sizeBytes,
  };
}
