import { BenchError } from '../../base/bench-error.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';
import type { MemoryLine, MemoryLines } from '../prompt/memory-lines.ts';

/** Tokens that a block attends to while it is computed, besides its own. */
export interface ContextTokens {
  /** In front of every block. */
  readonly front: readonly TokenId[];
  /** Behind these, in front of this block alone; null where there is none. */
  readonly neighbour: MemoryLine | null;
  /** All of them, in order. */
  readonly all: readonly TokenId[];
}

/** The context of a line's block. Blocks of one line in different contexts are different blocks, with keys of their own. */
export function contextTokens(making: BlockMaking, { header, lines }: MemoryLines, index: number): ContextTokens {
  const front = [...(making.context === 'none' ? [] : header), ...sinkTokens(making, header)];
  const neighbour = (making.context === 'previous' ? lines[index - 1] : undefined) ?? null;
  return { front, neighbour, all: [...front, ...(neighbour?.tokenIds ?? [])] };
}

/**
 * The shared tokens in front of every block, where attention sinks lie: the first of the prompt.
 * @see StreamingLLM, arXiv 2309.17453
 * @throws BenchError `bad-option` where the prompt has fewer in front of its memories
 */
export function sinkTokens({ sink }: BlockMaking, header: readonly TokenId[]): readonly TokenId[] {
  if (sink === undefined) return [];
  if (sink.tokens <= header.length) return header.slice(0, sink.tokens);
  throw new BenchError(
    'bad-option',
    `@sink=${sink.tokens}: the prompt has ${header.length} tokens in front of its memories`,
    `choose at most ${header.length}`,
  );
}

/** Sink tokens that stay in front of each block in the sequence, besides those of the prompt: 0 where they are dropped. */
export function keptSinkTokens({ sink }: BlockMaking): number {
  return sink?.kept === true ? sink.tokens : 0;
}

/** The cells in front of blocks. */
export interface ContextCells {
  /** In front of them all, once. */
  readonly header: SequenceState;
  /** In front of a block while it is computed; null for none. */
  readonly front: SequenceState | null;
  /** In front of each block in the sequence, where sink tokens are kept; else null. */
  readonly sink: SequenceState | null;
}

/**
 * Cuts cells that were evaluated in one piece: the header, and the sink tokens behind it, which are those of its beginning
 * where blocks do not see the header.
 */
export function cutContext(
  whole: SequenceState,
  headerTokens: number,
  { context, sink: { tokens, kept } = { tokens: 0, kept: false } }: BlockMaking,
  kv: Pick<KvTools, 'cut'>,
): ContextCells {
  const start = context === 'none' ? 0 : headerTokens;
  const end = start + tokens;
  return {
    header: memoizedCut(whole, 0, headerTokens, kv),
    front: end === 0 ? null : memoizedCut(whole, 0, end, kv),
    sink: kept ? memoizedCut(whole, start, end, kv) : null,
  };
}

const knownCuts = new WeakMap<SequenceState, Map<string, SequenceState>>();

/** The same object for the same cut, since rotated keys are cached by the object. */
function memoizedCut(from: SequenceState, start: number, end: number, { cut }: Pick<KvTools, 'cut'>): SequenceState {
  if (start === 0 && end === from.positions.length) return from;
  const cuts = knownCuts.get(from) ?? new Map<string, SequenceState>();
  knownCuts.set(from, cuts);
  const name = `${start} ${end}`;
  const found = cuts.get(name) ?? cut(from, start, end);
  cuts.set(name, found);
  return found;
}
