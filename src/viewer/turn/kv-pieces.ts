import type { KvOrigin, PrefillRecord } from '../../store/records/prefill-record.ts';

/** A piece of injected K/V as a line of a list: the header, the prefix, or the block of a memory. */
export interface KvPiece {
  readonly name: string;
  readonly memoryId: string | undefined;
  readonly key: string;
  readonly origin: KvOrigin;
  readonly tokens: number;
  /** Of its first token. */
  readonly position: number;
  /** Its share, by tokens, of the bytes that were imported. */
  readonly sizeBytes: number;
  /** 1 for the header, which is never scaled; that of a prefix holds for its memory lines alone. */
  readonly alpha: number;
  readonly computeMs: number;
}

/** The K/V that a turn injected, piece by piece in the order of the sequence. */
export function kvPieces(prefill: PrefillRecord | null): KvPiece[] {
  if (prefill === null) return [];
  if (prefill.strategy === 'prefix') {
    const { key, origin, tokens, sizeBytes, alpha, computeMs, memoryIds } = prefill;
    const name = `prefix of ${memoryIds.length} memor${memoryIds.length === 1 ? 'y' : 'ies'}`;
    return [{ name, memoryId: undefined, key, origin, tokens, position: 0, sizeBytes, alpha, computeMs }];
  }
  const { header, blocks, sizeBytes, alpha } = prefill;
  const all = header.tokens + blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  const share = (tokens: number): number => (all === 0 ? 0 : (sizeBytes * tokens) / all);
  return [
    { ...header, name: 'header', memoryId: undefined, position: 0, alpha: 1, sizeBytes: share(header.tokens) },
    ...blocks.map((one) => ({ ...one, name: 'memory', alpha, sizeBytes: share(one.tokens) })),
  ];
}

/** Origins of a piece, for readers. */
export const originWords: Readonly<Record<KvOrigin, string>> = {
  computed: 'computed in this turn',
  resident: 'cached, in the session',
  memory: 'cached, in memory (L1)',
  disk: 'cached, on disk (L2)',
};
