import { z } from 'zod';

/** Where K/V came from: `computed` in this turn, or found in the sequence itself, in memory, or on disk. */
const origin = z.enum(['computed', 'resident', 'memory', 'disk']);

const block = z.object({ key: z.string(), tokens: z.number(), origin, computeMs: z.number() });

const common = z.object({
  /** Multiplies the values of memory cells. */
  alpha: z.number(),
  /** Of the whole state, as it was loaded. */
  sizeBytes: z.number(),
});

/** One contiguous prefix: header and memory lines, in one state. */
const prefixKv = common.extend({
  mode: z.literal('prefix'),
  ...block.shape,
  memoryIds: z.array(z.string()),
});

/** A memory line each, behind one copy of the header. */
const joinedKv = common.extend({
  mode: z.union([z.literal('blocks'), z.literal('parallel'), z.templateLiteral(['link:', z.number()])]),
  header: block,
  /** In the order of the sequence; `position` is that of the first token. */
  blocks: z.array(block.extend({ memoryId: z.string(), position: z.number() })),
  /** Evaluated again in sight of what precedes them. */
  linkTokens: z.number(),
  joinMs: z.number(),
});

/** What was injected in a turn; null where nothing was. */
export const storedKv = z.union([prefixKv, joinedKv]).nullable();

export type StoredKv = z.output<typeof storedKv>;
export type KvOrigin = z.output<typeof origin>;

/** A piece of K/V as a line of a list: the header, the prefix, or the block of a memory. */
export interface KvPiece {
  readonly name: string;
  readonly memoryId: string | undefined;
  readonly key: string;
  readonly origin: KvOrigin;
  readonly tokens: number;
  /** Of its first token. */
  readonly position: number;
  /** Its share, by tokens, of the state's bytes. */
  readonly sizeBytes: number;
  /** 1 for the header, which is never scaled; that of a prefix holds for its memory lines alone. */
  readonly alpha: number;
  readonly computeMs: number;
}

/** The pieces of the K/V of a turn, in the order of the sequence. */
export function kvPieces(kv: StoredKv): KvPiece[] {
  if (kv === null) return [];
  if (kv.mode === 'prefix') {
    const { key, origin: from, tokens, sizeBytes, alpha, computeMs, memoryIds } = kv;
    const name = `prefix of ${memoryIds.length} memor${memoryIds.length === 1 ? 'y' : 'ies'}`;
    return [{ name, memoryId: undefined, key, origin: from, tokens, position: 0, sizeBytes, alpha, computeMs }];
  }
  const { header, blocks, sizeBytes, alpha } = kv;
  const all = header.tokens + blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  const share = (tokens: number): number => (all === 0 ? 0 : (sizeBytes * tokens) / all);
  return [
    { ...header, name: 'header', memoryId: undefined, position: 0, alpha: 1, sizeBytes: share(header.tokens) },
    ...blocks.map((one) => ({ ...one, name: 'memory', alpha, sizeBytes: share(one.tokens) })),
  ];
}

/** Where a piece came from, in words. */
export const originWords: Readonly<Record<KvOrigin, string>> = {
  computed: 'computed in this turn',
  resident: 'cached, in the sequence',
  memory: 'cached, in memory (L1)',
  disk: 'cached, on disk (L2)',
};
