import { BenchError } from '../../base/bench-error.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockMaking } from '../../store/records/block-making.ts';
import type { LinesAhead, MemoryLine } from '../prompt/lines-ahead.ts';

/** Tokens that a block sees while it is computed, besides its own. */
export interface SeenTokens {
  /** In front of every block. */
  readonly front: readonly TokenId[];
  /** Behind these, in front of this block alone; null where there is none. */
  readonly neighbour: MemoryLine | null;
  /** All of them, in order. */
  readonly all: readonly TokenId[];
}

/** The tokens that the block of a line sees. Blocks of one line that see others are other blocks, with keys of their own. */
export function seenTokens(making: BlockMaking, { header, lines }: LinesAhead, index: number): SeenTokens {
  const front = [...(making.context === 'none' ? [] : header), ...sinkTokens(making, header)];
  const neighbour = (making.context === 'previous' ? lines[index - 1] : undefined) ?? null;
  return { front, neighbour, all: [...front, ...(neighbour?.tokenIds ?? [])] };
}

/**
 * The shared tokens that are put in front of every block, in the place where attention sinks lie: the first of the prompt.
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

/** Tokens that stand in front of each block in the sequence, beside those of the prompt: 0 where they are dropped. */
export function keptSinkTokens({ sink }: BlockMaking): number {
  return sink?.kept === true ? sink.tokens : 0;
}
